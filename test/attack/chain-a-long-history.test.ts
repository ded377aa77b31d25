import { expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { ImportReport } from "../../src/memories/model/memory.ts";
import { idOf } from "../support/bases.ts";
import type { Client } from "../support/client.ts";
import { expectError } from "../support/errors.ts";
import { startServer } from "../support/server.ts";

/** As the API page says. */
const LONGEST = 1_000;

/** Lines of memories, each of which supersedes the one before. */
const chain = (length: number) =>
  Array.from({ length }, (_, n) => ({
    ...{ id: idOf(n), content: `The meeting is in room ${n}.`, tags: ["room"] },
    ...(n > 0 && { supersedes: idOf(n - 1) }),
  }));

async function importLines({ origin, key }: { origin: string; key: string }, lines: object[]) {
  const response = await fetch(`${origin}/api/memories/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/x-ndjson" },
    body: lines.map((line) => JSON.stringify(line)).join("\n"),
  });
  return (await response.json()) as ImportReport;
}

interface HistoryPage {
  memories: unknown[];
  next_cursor: string | null;
}

/** The number of memories of a history. */
async function lengthOf(client: Client, id: string): Promise<number> {
  let length = 0;
  for (let cursor = ""; ; ) {
    const path = `/memories/${id}/history?limit=100${cursor}`;
    const page = (await client.send("GET", path)).body as HistoryPage;
    length += page.memories.length;
    if (page.next_cursor === null) return length;
    cursor = `&cursor=${page.next_cursor}`;
  }
}

test("a history gets no longer than it may be, by an import or by a save", async () => {
  await using server = await startServer();
  const client = await server.account();
  const { key } = client;
  const report = await importLines({ ...server, key }, chain(LONGEST + 2));
  expect(report).toMatchObject({ created: LONGEST + 1, invalid: 1 });
  const reason = "would make a history longer than 1,000 memories";
  expect(report.skipped).toEqual([{ line: LONGEST + 1, outcome: "invalid", reason }]);
  expect(await lengthOf(client, idOf(3))).toBe(LONGEST);

  const next = { content: "The meeting is upstairs.", supersedes: idOf(LONGEST - 1) };
  const refused = await client.send("POST", "/memories", { json: next });
  expectError(refused, { status: 409, code: "conflict", path: "/supersedes" });
  expect((await client.send("DELETE", `/memories/${idOf(7)}`)).status).toBe(200);
  expect((await client.send("POST", "/memories", { json: next })).status).toBe(201);
  expect(
    (await client.send("POST", "/memories/move?tags=room", { json: { project: "p" } })).body,
  ).toEqual({
    moved: LONGEST + 1,
  });
  const end = `/memories/${idOf(0)}?history=true`;
  expect((await client.send("DELETE", end)).status).toBe(200);
  expect((await client.send("GET", "/stats")).body).toMatchObject({ memories: 1 });
});

test("a longer one, put together from its end, is followed no further", async () => {
  await using server = await startServer();
  const client = await server.account();
  const { key } = client;
  // The older memory of each is missing when it comes.
  const lines = chain(3 * LONGEST).reverse();
  expect(await importLines({ ...server, key }, lines)).toMatchObject({ created: lines.length });
  // Each page follows the whole history, so this asks for one.
  const reach = wholeAccount(client.accountId);
  const newest = idOf(lines.length - 1);
  const { memories } = await server.memories.history(reach, newest, { limit: lines.length });
  expect(memories.length).toBeLessThan(2 * LONGEST);
  expect(
    (await client.send("POST", "/memories/move?tags=room", { json: { project: "p" } })).body,
  ).toEqual({
    moved: lines.length,
  });
  expect((await client.send("DELETE", `/memories/${idOf(1_500)}?history=true`)).status).toBe(200);
  const left = (await client.send("GET", "/stats")).body as { memories: number };
  expect(left.memories).toBeGreaterThanOrEqual(LONGEST);
}, 180_000);
