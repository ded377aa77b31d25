import { expect } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { openRecordedModel } from "../../src/embedding/chosen-model.ts";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { builtInModel } from "../../src/embedding/manifest.ts";
import { accountOf, tableFor } from "../../src/memories/log/log.ts";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import { filesWith, untilGone } from "../crash/traces.ts";
import { type Client, createClient } from "./client.ts";
import { sharedEmbedder, silentLog, testCacheDir } from "./embedder.ts";
import { startServer } from "./server.ts";
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

/** The real model, which embeds a content once for all data folders: most have the same contents. */
function sharedMemory(): Embedder {
  const embedder = sharedEmbedder();
  return {
    ...embedder,
    embedContent(text) {
      const embedded = contents.get(text) ?? embedder.embedContent(text);
      contents.set(text, embedded);
      return embedded;
    },
  };
}
const contents = new Map<string, ReturnType<Embedder["embedContent"]>>();

/** A server of a data folder. */
interface Running extends AsyncDisposable {
  readonly origin: string;
  /** Whether all memories have vectors of the current model. */
  isEmbedded(): Promise<boolean>;
  end(): Promise<unknown>;
}

/** As in `ctxd serve`, but sooner: the time that the program takes is seen where it opens a folder itself. */
const SOON = { ...UPKEEP_LIMITS, idle: 500, forgetAfter: 500, retryAfter: 500 };

/** Starts a server in this process, with what `ctxd serve` opens. */
export async function serveHere(dataDir: string): Promise<Running> {
  const openRecorded = (model: Parameters<typeof openRecordedModel>[0]) =>
    openRecordedModel(model, { cacheDir: testCacheDir, log: silentLog });
  const embedder = sharedMemory();
  const server = await startServer({ dataDir, clock: Date.now, embedder, openRecorded, due: SOON });
  let ended: Promise<void> | undefined;
  const end = () => (ended ??= server.close());
  const isEmbedded = async () => server.store.reembedded() === null;
  return { origin: server.origin, isEmbedded, end, [Symbol.asyncDispose]: end };
}

/** Starts the program. */
export async function serveByProgram(dataDir: string): Promise<Running> {
  const server = spawnServer(dataDir, "real");
  const origin = await server.origin();
  const isEmbedded = async () => {
    const health = await fetch(`${origin}/api/health`);
    return JSON.parse(await health.text()).checks.vectors === "ok";
  };
  return { ...server, origin, isEmbedded };
}

async function exported({ key }: Client, origin: string): Promise<Record<string, unknown>[]> {
  const headers = { authorization: `Bearer ${key}` };
  // A busy server asks to come again while it loads the memories.
  const text = await until("the memories are loaded", async () => {
    const answer = await fetch(`${origin}/api/memories/export`, { headers });
    const text = await answer.text();
    if (answer.status === 503) return null;
    expect({ status: answer.status, text }).toMatchObject({ status: 200 });
    return text;
  });
  const lines = text.trim().split("\n");
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

export async function untilEmbedded({ isEmbedded }: Running) {
  await until("all memories are embedded again", isEmbedded);
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
 * @param serve starts it for the first time
 */
export async function expectKept(
  dataDir: string,
  told: Told,
  also: (clients: readonly Client[]) => Promise<void> = async () => {},
  serve = serveHere,
) {
  expect(filesWith(dataDir, told.gone)).not.toEqual([]);
  {
    await using server = await serve(dataDir);
    const { origin } = server;
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
    await untilEmbedded(server);
    await server.end();
  }
  await using server = await serveHere(dataDir);
  const { origin } = server;
  for (const { key, memories } of told.accounts) {
    const client = createClient(origin, key);
    await expectAll(client, origin, memories);
    await expectFound(client, memories);
  }
}
