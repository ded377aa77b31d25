import { stat } from "node:fs/promises";
import type { Line } from "./budgets.ts";
import { anonymousMemory, diskUse, fragmentsIn, MIB, versionsIn } from "./footprint.ts";
import { type Latencies, measureBesideWrites, measureSearch, measureWrite } from "./latency.ts";
import { median, percentile } from "./numbers.ts";
import type { Growth, Outcome } from "./outcome.ts";
import { fetchMetrics } from "./server-metrics.ts";
import { settle } from "./settle.ts";
import type { Subject } from "./subject.ts";
import { measureManyClients, type Rates } from "./throughput.ts";

/** How long and how often things are measured. Ratios are the medians of the rounds. */
const SEARCHES = 150;
const GROWTH_SEARCHES = 60;
const WRITES = 60;
const ROUNDS = 3;
const BESIDE_WRITES_SECONDS = 12;
const MANY_CLIENTS = { rounds: 3, seconds: 4 };
/** By then the model of relations has ended, and its memory went back to the system. */
const IDLE = 60_000;
/** Searches that fill caches before anything is measured. */
const WARM_UP = 20;

/** Search latency at the present size, once upkeep has come to rest. */
export async function measureGrowth(subject: Subject): Promise<Growth> {
  await rest(subject);
  await measureSearch(subject, WARM_UP);
  return growthOf(subject, await measureSearch(subject, GROWTH_SEARCHES));
}

async function growthOf({ folders, stored }: Subject, { floor, search }: Latencies) {
  return {
    memories: stored.memories,
    fragments: await fragmentsIn(folders.data),
    floorP50: median(floor),
    searchP50: median(search),
    searchP95: percentile(search, 0.95),
  };
}

/** Measures all that a running server has a budget for, at the size it has. */
export async function measureServer(subject: Subject, bulk: Rates | null, outcome: Outcome) {
  const memories = subject.stored.memories;
  const add = (line: Omit<Line, "memories">) => outcome.lines.push({ memories, ...line });
  if (bulk) add({ name: "bulkWrite", floor: bulk.engine, figure: bulk.server });

  await measureSearches(subject, outcome);
  const one = await measureWrite(subject, WRITES);
  add({ name: "write", floor: one.floor, figure: one.write });
  add({ name: "writeP95", floor: one.floor, figure: one.p95 });
  await rest(subject);
  const many = await measureManyClients(subject, MANY_CLIENTS);
  add({ name: "manyClients", floor: many.engine, figure: many.server, also: many.also });

  await rest(subject);
  await Bun.sleep(IDLE);
  const idle = await anonymousMemory(subject.server.pid);
  if (idle !== null) add({ name: "idleMemory", floor: null, figure: idle / MIB });
  const disk = (await diskUse(subject.folders.data)) / MIB;
  add({ name: "disk", floor: subject.stored.mib, figure: disk });
  const fragments = await fragmentsIn(subject.folders.data);
  add({ name: "fragments", floor: null, figure: fragments });
  add({ name: "versions", floor: null, figure: await versionsIn(subject.folders.data) });
}

/** Quiet searches and searches beside writes, in rounds. */
async function measureSearches(subject: Subject, outcome: Outcome): Promise<void> {
  const memories = subject.stored.memories;
  const quiet: Latencies[] = [];
  const beside: Awaited<ReturnType<typeof measureBesideWrites>>[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await rest(subject);
    await measureSearch(subject, WARM_UP);
    quiet.push(await measureSearch(subject, Math.ceil(SEARCHES / ROUNDS)));
    if (round === 0) outcome.growth.push(await growthOf(subject, joined(quiet)));
    beside.push(await measureBesideWrites(subject, BESIDE_WRITES_SECONDS));
  }
  const { floor, search } = joined(quiet);
  const searches = beside.map((round) => round.searches.map(({ ms }) => ms));
  /** Each round's figure is compared with the quiet median right before it. */
  const ratiosOf = (share: number) =>
    searches.map((times, round) => percentile(times, share) / median(quiet[round]?.search ?? []));
  outcome.lines.push(
    {
      name: "search",
      memories,
      floor: median(floor),
      figure: median(search),
      also: { p95: percentile(search, 0.95), floorP95: percentile(floor, 0.95) },
    },
    {
      name: "searchBesideWrites",
      memories,
      floor: median(search),
      figure: median(search) * median(ratiosOf(0.5)),
      also: {
        writeP50: median(beside.flatMap(({ writes }) => writes)),
        writeP95: percentile(
          beside.flatMap(({ writes }) => writes),
          0.95,
        ),
        mainThreadP95: percentile(
          beside.flatMap(({ mainThread }) => mainThread),
          0.95,
        ),
      },
    },
    {
      name: "searchBesideWritesP95",
      memories,
      floor: median(search),
      figure: median(search) * median(ratiosOf(0.95)),
    },
  );
  const moments = beside.flatMap((round, index) =>
    round.searches.map(({ at, ms }) => ({ at: at + index * BESIDE_WRITES_SECONDS * 1_000, ms })),
  );
  outcome.besideWrites.push({ memories, quiet: median(search), moments });
}

/** MiB of a file. */
export async function sizeOf(path: string): Promise<number> {
  return (await stat(path)).size / MIB;
}

function rest({ folders }: Subject): Promise<void> {
  return settle(folders.data, () => fetchMetrics(folders.data));
}

function joined(rounds: readonly Latencies[]): Latencies {
  return {
    floor: rounds.flatMap(({ floor }) => floor),
    search: rounds.flatMap(({ search }) => search),
  };
}
