import type { NewMemory } from "../../src/memories/model/memory.ts";
import { watchMainThread } from "./latency.ts";
import { median, percentile, timed } from "./numbers.ts";
import type { Subject } from "./subject.ts";

/** Memories in a batch. */
export const BATCH = 256;

/** Texts a second, in turns: by the engine alone, and by the server. */
export interface Rates {
  readonly engine: number;
  readonly server: number;
  readonly also: Readonly<Record<string, number>>;
}

/** Has the engine embed each batch alone, then writes it. */
export async function measureBulk(
  { engine, client, stored }: Subject,
  batches: readonly (readonly NewMemory[])[],
): Promise<Rates> {
  const ratios: number[] = [];
  const engineRates: number[] = [];
  for (const batch of batches) {
    const alone = await timed(() =>
      Promise.all(batch.map(({ content }) => engine.embedContent(content))),
    );
    const written = await timed(() => client.saveAll(batch));
    stored.add(batch);
    ratios.push(alone / written);
    engineRates.push((batch.length / alone) * 1_000);
  }
  return rates(engineRates, ratios, {});
}

const CLIENTS = 64;

/**
 * Has 64 clients search at once, in rounds between which the engine alone embeds as many queries of
 * the same kind at once. Any answer that is no success ends the bench.
 */
export async function measureManyClients(
  { engine, client, sentences }: Subject,
  { rounds, seconds }: { rounds: number; seconds: number },
): Promise<Rates> {
  const ratios: number[] = [];
  const engineRates: number[] = [];
  const latencies: number[] = [];
  const mainThread: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const alone = await rate(seconds, () => engine.embedQuery(sentences.query()));
    const end = performance.now() + seconds * 1_000;
    const watched = watchMainThread(client, end, mainThread);
    const searched = await rate(seconds, async () => {
      latencies.push(await timed(() => client.search(sentences.query())));
    });
    await watched;
    engineRates.push(alone);
    ratios.push(searched / alone);
  }
  return rates(engineRates, ratios, {
    p50: median(latencies),
    p95: percentile(latencies, 0.95),
    mainThreadP95: percentile(mainThread, 0.95),
  });
}

/** How many times a second a task is done by 64 that each do it again and again. */
async function rate(seconds: number, task: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  const end = started + seconds * 1_000;
  let done = 0;
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      for (; performance.now() < end; done++) await task();
    }),
  );
  return (done / (performance.now() - started)) * 1_000;
}

/** The server's rate by the median of the ratios: neighbours in time are compared with each other. */
function rates(engine: number[], ratios: number[], also: Rates["also"]): Rates {
  return { engine: median(engine), server: median(engine) * median(ratios), also };
}
