import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { createWorkerEmbedder } from "../../src/embedding/worker-embedder.ts";
import { createLog } from "../../src/log.ts";

/** Cache folder of the tests: the model is copied into it once and for all. */
export const testCacheDir = join(tmpdir(), `ctxd-test-cache-${process.getuid?.() ?? "user"}`);

export const silentLog = createLog({ logLevel: "silent", logFormat: "text" });

let shared: Embedder | null = null;

/** The real model, loaded once per test process. Do not close it: other test files use it too. */
export function sharedEmbedder(): Embedder {
  shared ??= createWorkerEmbedder({ cacheDir: testCacheDir, log: silentLog });
  return shared;
}
