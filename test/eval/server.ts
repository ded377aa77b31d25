import { join } from "node:path";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { sharedEmbedder, testCacheDir } from "../support/embedder.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { cacheEmbeddings } from "./cached-embedder.ts";

/** Runs a task with a server whose embedder remembers what it was asked before. */
export async function withEvaluationServer(
  task: (server: TestServer, embedder: Embedder) => Promise<void>,
) {
  const path = join(testCacheDir, "..", "ctxd-eval", "embedded.sqlite");
  const embedder = cacheEmbeddings(sharedEmbedder(), path);
  const server = await startServer({ embedder });
  try {
    await task(server, embedder);
  } finally {
    await server.close();
    await embedder.close();
  }
}
