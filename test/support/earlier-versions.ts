import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { builtInModel } from "../../src/embedding/manifest.ts";
import { accountOf, tableFor } from "../../src/memories/log/log.ts";
import { filesWith, untilGone } from "../crash/traces.ts";
import { type Client, createClient } from "./client.ts";
import { spawnServer } from "./server-process.ts";
import { until } from "./until.ts";

/** Milliseconds within which deleted texts must be gone. */
const TIMEOUT_MS = 60_000;

/** A memory as an earlier version gave it, with the fields that it knew. */
interface Memory {
  readonly id: string;
  readonly content: string;
}

interface Account {
  readonly key: string;
  readonly memories: readonly Memory[];
  /** Of all memories, where some are superseded and in no list. */
  readonly count?: number;
}

/** The output of an earlier version before it was killed. */
export interface Told {
  readonly accounts: readonly Account[];
  /** Words of what was replaced or deleted. */
  readonly gone: readonly string[];
}

async function exported({ key }: Client, origin: string): Promise<Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${origin}/api/memories/export`, { headers });
  const lines = (await answer.text()).trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** All fields that the earlier version knew are as it gave them; others may have come. */
export async function expectAll(client: Client, origin: string, recorded: readonly Memory[]) {
  const now = new Map((await exported(client, origin)).map((memory) => [memory.id, memory]));
  const known = recorded.map((memory) =>
    Object.fromEntries(Object.keys(memory).map((name) => [name, now.get(memory.id)?.[name]])),
  );
  expect(known).toEqual(recorded.map((memory) => ({ ...memory })));
}

/** Each is found by how it begins and by how it ends. */
export async function expectFound({ search }: Client, recorded: readonly Memory[]) {
  for (const { id, content } of recorded) {
    for (const text of new Set([content.slice(0, 150), content.slice(-150)])) {
      const found = await search(text, { limit: 5 });
      expect({ text, ids: found.map((memory) => memory.id) }).toEqual({
        text,
        ids: expect.arrayContaining([id]),
      });
    }
  }
}

/** Waits until all memories have vectors of the current model. */
export async function untilEmbedded(origin: string) {
  const vectors = async () => {
    const health = await fetch(`${origin}/api/health`);
    return JSON.parse(await health.text()).checks.vectors;
  };
  await until("all memories are embedded again", async () => (await vectors()) === "ok");
}

/** The tables are those that another model has filled: the present one keeps more than the first one did. */
export function expectRefilled(dataDir: string) {
  const folders = readdirSync(join(dataDir, "memories"));
  expect(folders).not.toEqual([]);
  for (const folder of folders) {
    expect(folder).toStartWith(`${tableFor(accountOf(folder), builtInModel.id)}.`);
  }
}

/**
 * Of a data folder that an earlier version has left, everything is there, and nothing of what was deleted.
 * @param also what else holds at the first start
 */
export async function expectKept(
  dataDir: string,
  told: Told,
  also: (clients: readonly Client[]) => Promise<void> = async () => {},
) {
  expect(filesWith(dataDir, told.gone)).not.toEqual([]);
  {
    await using server = spawnServer(dataDir, "real");
    const origin = await server.origin();
    const clients = told.accounts.map(({ key }) => createClient(origin, key));
    for (const [index, { memories, count = memories.length }] of told.accounts.entries()) {
      const client = clients[index];
      if (!client) throw new Error("no client");
      await expectAll(client, origin, memories);
      await expectFound(client, memories);
      expect(await exported(client, origin)).toHaveLength(count);
      const stats = (await client.send("GET", "/stats")).body;
      expect(stats).toMatchObject({ memories: count });
      for (const word of told.gone) {
        expect(await client.search(word, { mode: "keyword" })).toEqual([]);
      }
    }
    await also(clients);
    expect(await untilGone(dataDir, told.gone, TIMEOUT_MS)).toEqual([]);
    await untilEmbedded(origin);
    await server.end();
  }
  await using server = spawnServer(dataDir, "real");
  const origin = await server.origin();
  for (const { key, memories } of told.accounts) {
    const client = createClient(origin, key);
    await expectAll(client, origin, memories);
    await expectFound(client, memories);
  }
}
