import { createClient } from "./client.ts";
import { spawnServer } from "./server-process.ts";

/** Runs `ctxd serve` as a process of its own until it answers; `await using` stops it in peace. */
export async function serving(dataDir: string) {
  const server = spawnServer(dataDir, "real");
  const origin = await server.origin();
  return {
    origin,
    pid: server.pid,
    client: (key: string) => createClient(origin, key),
    kill: server.kill,
    [Symbol.asyncDispose]: async () => void (await server.end()),
  };
}
