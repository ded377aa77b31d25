import type { Embedder } from "../../src/embedding/embedder.ts";
import { createClient } from "../support/client.ts";
import { createBenchClient } from "./client.ts";
import { median, percentile, timed } from "./numbers.ts";
import { createSentences } from "./sentences.ts";
import type { Group } from "./server-group.ts";
import { BATCH } from "./throughput.ts";

const SEED = 7_733;
const [WRITES, SEARCHES, READS, COLD, WARM_UP] = [200, 150, 100, 3, 20];
const CLIENTS = 16;
/** Of ten calls of a client nine search. */
const SEARCHED = 0.9;

interface Options {
  memories: number;
  seconds: number;
  /** Embeds the same texts in this process, which gives the floor; null where that costs nothing. */
  engine: Embedder | null;
}

/** All figures of a group, its requests sent to its servers in turn. */
export async function measureGroup(group: Group, { memories, seconds, engine }: Options) {
  const sentences = createSentences(SEED);
  let turn = 0;
  const next = () => {
    const server = group.servers[turn++ % group.servers.length];
    return createBenchClient(server?.origin ?? "", group.key);
  };
  for (let left = memories; left > 0; left -= BATCH) {
    const batch = Array.from({ length: Math.min(BATCH, left) }, () => sentences.memory());
    await next().saveAll(batch);
  }
  for (let times = 0; times < WARM_UP; times++) await next().search(sentences.query());

  const before = await group.cost();
  const [writes, floors] = [[] as number[], [] as number[]];
  for (let times = 0; times < WRITES; times++) {
    const memory = sentences.memory();
    if (engine) floors.push(await timed(() => engine.embedContent(memory.content)));
    writes.push(await timed(() => next().save(memory)));
  }
  const after = await group.cost();

  const searches: number[] = [];
  for (let times = 0; times < SEARCHES; times++) {
    searches.push(await timed(() => next().search(sentences.query())));
  }
  const elsewhere = await measureReads(group, sentences);
  const throughput = await measureThroughput(next, sentences, seconds);

  const cold: number[] = [];
  for (let times = 0; times < COLD; times++) {
    const server = await group.addServer();
    const client = createBenchClient(server.origin, group.key);
    await untilReady(server.origin);
    cold.push(await timed(() => client.search(sentences.query())));
  }
  // What is left in the log is flushed at the latest when it is a day old.
  await Promise.all(group.servers.map((server) => server.stop()));
  const { puts } = await group.cost();
  const saved = memories + WRITES + READS + throughput.saves;
  return {
    "write p50": ms(median(writes)),
    "write p95": ms(percentile(writes, 0.95)),
    ...(engine && { "of that embedding": ms(median(floors)) }),
    "search p50": ms(median(searches)),
    "search p95": ms(percentile(searches, 0.95)),
    "get after write elsewhere p50": ms(median(elsewhere)),
    "p95 ": ms(percentile(elsewhere, 0.95)),
    "cold account, first search": ms(median(cold)),
    "calls a second": throughput.rate.toFixed(0),
    "log kB for each write": ((after.logBytes - before.logBytes) / 1_000 / WRITES).toFixed(1),
    "PUTs for 1,000 writes": ((puts / saved) * 1_000).toFixed(0),
  };
}

/** Milliseconds of a read by the next server, right after a write by another one was answered. */
async function measureReads(group: Group, sentences: ReturnType<typeof createSentences>) {
  const clients = group.servers.map(({ origin }) => createClient(origin, group.key));
  const times: number[] = [];
  for (let round = 0; round < READS; round++) {
    const writer = clients[round % clients.length];
    const reader = clients[(round + 1) % clients.length];
    const saved = await writer?.save(sentences.memory());
    times.push(await timed(async () => reader?.get(saved?.id ?? "")));
  }
  return times;
}

async function measureThroughput(
  next: () => ReturnType<typeof createBenchClient>,
  sentences: ReturnType<typeof createSentences>,
  seconds: number,
) {
  const started = performance.now();
  const end = started + seconds * 1_000;
  let [calls, saves] = [0, 0];
  const client = async (_: unknown, number: number) => {
    for (let call = number; performance.now() < end; call++, calls++) {
      if (call % 10 < SEARCHED * 10) await next().search(sentences.query());
      else {
        await next().save(sentences.memory());
        saves++;
      }
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { rate: (calls / (performance.now() - started)) * 1_000, saves };
}

async function untilReady(origin: string): Promise<void> {
  for (const end = performance.now() + 60_000; performance.now() < end; await Bun.sleep(20)) {
    if ((await fetch(`${origin}/api/health`)).ok) return;
  }
  throw new Error("a server does not get ready");
}

const ms = (value: number) => `${value.toFixed(1)} ms`;
