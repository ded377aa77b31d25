import { beforeAll } from "bun:test";
import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { createWorkerEmbedder } from "../../src/embedding/worker-embedder.ts";
import { createLog } from "../../src/log.ts";
import { noteLine } from "./recent-log.ts";

const ROOT = join(import.meta.dir, "..", "..");

/** Cache folder of the tests: the model is copied into it once, and goes with the libraries. */
export const testCacheDir = join(ROOT, "node_modules", ".cache", "ctxd-test");

/** Silent but for errors that no part of the server expects: a test that fails by one says why. See `until`, too. */
export const silentLog = createLog({ logLevel: "info", logFormat: "text" }, (line) => {
  noteLine(line);
  if (line.includes(" code=internal ")) process.stderr.write(`${line}\n`);
});

let shared: Embedder | null = null;

/** The real model, loaded once per test process. Do not close it: other test files use it too. */
export function sharedEmbedder(): Embedder {
  shared ??= createWorkerEmbedder({ cacheDir: testCacheDir, log: silentLog });
  return shared;
}

/** Starts its model of relations before the tests of a file: a request waits only some seconds for it. */
export function startRelations(): void {
  beforeAll(async () => {
    await sharedEmbedder().relate("one", "two");
  }, 120_000);
}
