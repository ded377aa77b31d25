import { cacheEmbeddings } from "../eval/cached-embedder.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";
import { startServer } from "../support/server.ts";
import { PEOPLE } from "./truth.ts";

/** What the year's process is told: to set its clock, or to wait until what has expired is removed. */
export type Order = { clock: number } | { settled: true };
/** What it answers: where it serves, or that an order was followed. */
export interface Opened {
  origin: string;
  folder: string;
  now: number;
  keys: Record<string, string>;
}

/** The clock goes ahead by minutes and hours at once, which is no reason to rest here. */
const EXPIRY = { every: 200, jump: Number.POSITIVE_INFINITY, restAfterJump: 0, retryAfter: 1_000 };

/** `bun test/year/process.ts [CACHE]`: the real server, whose clock its parent sets. */
async function main(cache: string | undefined) {
  const embedder = cache === undefined ? fakeEmbedder() : cacheEmbeddings(sharedEmbedder(), cache);
  const server = await startServer({ embedder, expiry: EXPIRY });
  const keys: Record<string, string> = {};
  for (const { name } of PEOPLE) keys[name] = (await server.account()).key;
  const expired = async () => (await server.log.expired(server.clock(), 10)).length;
  process.on("message", async (order: Order) => {
    if ("clock" in order) server.clock.advance(order.clock - server.clock());
    else while ((await expired()) > 0) await Bun.sleep(50);
    process.send?.({ done: true });
  });
  process.on("disconnect", async () => {
    await server.close();
    await embedder.close();
    process.exit(0);
  });
  const opened: Opened = {
    origin: server.origin,
    folder: server.folder,
    now: server.clock(),
    keys,
  };
  process.send?.(opened);
}

if (import.meta.main) await main(Bun.argv[2]);
