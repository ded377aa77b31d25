import { expect } from "bun:test";
import { randomUUIDv7 } from "bun";
import type { ImportReport, Memory } from "../../src/memories/model/memory.ts";
import type { Client } from "./client.ts";

const NDJSON = "application/x-ndjson";

/** The text of an export. @param origin of the server */
export async function exportText(
  origin: string,
  { key }: Pick<Client, "key">,
  query = "",
): Promise<string> {
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${origin}/api/memories/export${query}`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe(NDJSON);
  return await response.text();
}

/** The memories of an export, oldest first. */
export async function exportMemories(
  origin: string,
  client: Pick<Client, "key">,
): Promise<Memory[]> {
  return memoriesIn(await exportText(origin, client));
}

/** The memories of an export's text. */
export function memoriesIn(text: string): Memory[] {
  return text.split("\n").flatMap((line) => (line ? [JSON.parse(line)] : []));
}

/** Imports a body of lines. */
export async function importText(
  { send }: Pick<Client, "send">,
  body: string | Uint8Array | ReadableStream,
  query = "",
): Promise<ImportReport> {
  const headers = { "content-type": NDJSON };
  const answer = await send("POST", `/memories/import${query}`, { body, headers });
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as ImportReport;
}

/** Imports values, one per line. */
export function importLines(
  client: Pick<Client, "send">,
  ...lines: readonly object[]
): Promise<ImportReport> {
  return importText(client, toLines(lines));
}

/** Values as lines of JSON. */
export function toLines(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}

/** An id that no memory has. */
export function newMemoryId(): string {
  return `mem_${randomUUIDv7("hex").replaceAll("-", "")}`;
}
