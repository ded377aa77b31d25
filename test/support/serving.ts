import { createClient } from "./client.ts";
import { spawnServer } from "./server-process.ts";

/**
 * Runs `ctxd serve` as a process of its own until it answers; `await using` stops it in peace.
 * @param settings beside those that every test has
 */
export async function serving(dataDir: string, settings: Record<string, string> = {}) {
  const server = spawnServer(dataDir, "real", settings);
  const origin = await server.origin();
  return {
    origin,
    pid: server.pid,
    /** What it has said on standard error so far. */
    errors: server.errors,
    client: (key: string) => createClient(origin, key),
    kill: server.kill,
    [Symbol.asyncDispose]: async () => void (await server.end()),
  };
}
