import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commandLine } from "../../support/command-line.ts";
import { temporaryFolder } from "../../support/database.ts";
import { testCacheDir } from "../../support/embedder.ts";
import { writeWordModel } from "../../support/word-model.ts";
import { createSentences } from "../sentences.ts";
import { chromaPeer } from "./chroma.ts";
import { createCtxd } from "./ctxd.ts";
import { startEngine } from "./engine.ts";
import { measurePeers } from "./measure.ts";
import { miniSearchPeer } from "./minisearch.ts";
import type { Peer } from "./peer.ts";
import { peersTable } from "./report.ts";
import { serverMemoryPeer } from "./server-memory.ts";
import { sqliteVecPeer } from "./sqlite-vec.ts";

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
/** A real model that costs next to nothing. */
const folders = { cache: testCacheDir, model: join(root, "model"), data: join(root, "data") };
const ctxd = createCtxd(commandLine([], {}), folders);
let engine: Awaited<ReturnType<typeof startEngine>>;
beforeAll(async () => {
  await writeWordModel(folders.model);
  engine = await startEngine(folders);
});
afterAll(async () => {
  await engine.end();
  rmSync(root, { recursive: true });
});

/** Chroma is installed from the npm registry. */
const peers = [
  ...[ctxd, sqliteVecPeer, miniSearchPeer, serverMemoryPeer],
  ...(process.env.LONG ? [chromaPeer] : []),
];

test.each(peers)("$name finds what was loaded and saved, also after a restart", async (peer) => {
  const { memory } = createSentences(1);
  const memories = await engine.call("embedMemories", Array.from({ length: 20 }, memory));
  const [saved, ...loaded] = memories;
  if (!saved) throw new Error("no memories");
  const folder = temporaryFolder();
  for (const isFirst of [true, false]) {
    const running = await peer.start(folder);
    if (isFirst) {
      await running.load(loaded);
      await running.save(saved);
    }
    for (const { memory, passages } of memories) {
      const vector = passages[0]?.vector ?? new Float32Array();
      const answer = await running.search({ text: memory.content, vector });
      expect(answer).toContain(memory.content);
    }
    await running.stop();
  }
});

test("peers are measured beside the engine, and one that does not start is left out", async () => {
  const broken: Peer = {
    ...miniSearchPeer,
    start: () => Promise.reject(new Error("no such file")),
  };
  const effort = { warmUp: 1, searches: 3, saves: 2, starts: 1, rest: 0 };
  const measured = [sqliteVecPeer, miniSearchPeer, broken];
  const { figures, missing } = await measurePeers(measured, 300, folders, effort);
  expect(missing).toEqual([`${miniSearchPeer.name}: no such file`]);
  const [alone, vectors, words] = figures;
  if (!alone || !vectors || !words) throw new Error(JSON.stringify(figures));
  expect(figures).toHaveLength(3);
  for (const { searchP50, searchP95, saveP50, load, disk, start } of [vectors, words]) {
    for (const figure of [searchP50, saveP50, load, disk, start]) expect(figure).toBeGreaterThan(0);
    expect(searchP95).toBeGreaterThanOrEqual(searchP50);
  }
  // The engine's part is in the figures of whoever is given vectors.
  expect(vectors.searchP50).toBeGreaterThan(alone.searchP50);
  expect(vectors.load).toBeLessThan(alone.load);
  expect(vectors.memory ?? 1).toBeGreaterThan(alone.memory ?? 0);
  expect(peersTable(figures).split("\n")).toHaveLength(2 + figures.length);
});
