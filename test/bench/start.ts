import { createBenchClient } from "./client.ts";
import { median, timed } from "./numbers.ts";
import { fetchMetrics, metricOf } from "./server-metrics.ts";
import { type Folders, type ServerProcess, startServer } from "./server-process.ts";

const STARTS = 5;
const FIRST_SEARCHES = 3;
const LOOK_EVERY = 50;
const PATIENCE = 60_000;

/** What is started, and what it is asked. */
export interface Started {
  readonly command: readonly string[];
  readonly folders: Folders;
  readonly key: string;
  readonly query: () => string;
}

/** Milliseconds from spawning a server to its first answer to a search, the files being in memory. */
export async function measureStart({ command, folders, key, query }: Started): Promise<number> {
  const times: number[] = [];
  for (let turn = 0; turn < STARTS; turn++) {
    const started = performance.now();
    const server = await startServer(command, folders);
    await createBenchClient(server.origin, key).search(query());
    times.push(performance.now() - started);
    await server.stop();
  }
  return median(times);
}

/**
 * Milliseconds of the first search of a server whose model is loaded, and from its answer until all
 * memories are in memory: `null` for a server that does not tell.
 */
export async function measureFirstSearch(
  { command, folders, key, query }: Started,
  memories: number,
): Promise<{ first: number; inMemory: number | null }> {
  const times: { first: number; inMemory: number | null }[] = [];
  for (let turn = 0; turn < FIRST_SEARCHES; turn++) {
    const server = await startServer(command, folders);
    const client = createBenchClient(server.origin, key);
    await untilHealthy(server);
    const first = await timed(() => client.search(query()));
    times.push({
      first,
      inMemory: await untilInMemory(() => fetchMetrics(folders.data), memories),
    });
    await server.stop();
  }
  const inMemory = times.flatMap((time) => time.inMemory ?? []);
  return {
    first: median(times.map(({ first }) => first)),
    inMemory: inMemory.length > 0 ? median(inMemory) : null,
  };
}

/** Milliseconds until so many memories are in memory; `null` where that is not told. */
export async function untilInMemory(
  metrics: () => Promise<string>,
  memories: number,
  patience = PATIENCE,
): Promise<number | null> {
  const started = performance.now();
  for (;;) {
    const viewed = metricOf(await metrics(), "ctxd_view_memories");
    const passed = performance.now() - started;
    if (viewed === null) return null;
    if (viewed >= memories || passed > patience) return passed;
    await Bun.sleep(LOOK_EVERY);
  }
}

async function untilHealthy({ origin }: ServerProcess): Promise<void> {
  const started = performance.now();
  while (!(await fetch(`${origin}/api/health`)).ok) {
    if (performance.now() - started > PATIENCE) throw new Error("the server does not get healthy");
    await Bun.sleep(LOOK_EVERY);
  }
}
