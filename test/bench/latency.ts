import { median, percentile, timed } from "./numbers.ts";
import type { Subject } from "./subject.ts";

/** Times of the same query's embedding and of its search, in turns. Milliseconds. */
export interface Latencies {
  readonly floor: readonly number[];
  readonly search: readonly number[];
}

/**
 * Embeds a query alone, then searches with it, so many times. In turns, so that a machine that gets
 * slower or faster meanwhile moves both.
 */
export async function measureSearch(subject: Subject, times: number): Promise<Latencies> {
  const { engine, client, sentences } = subject;
  const floor: number[] = [];
  const search: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const query = sentences.query();
    floor.push(await timed(() => engine.embedQuery(query)));
    search.push(await timed(() => client.search(query)));
  }
  return { floor, search };
}

/** A search while other things went on: when it began, since the first, and how long it took. */
export interface Moment {
  readonly at: number;
  readonly ms: number;
}

export interface BesideWrites {
  readonly searches: readonly Moment[];
  /** Times of the writes, and of requests that need nothing but the server's main thread. */
  readonly writes: readonly number[];
  readonly mainThread: readonly number[];
}

const WRITES_A_SECOND = 20;

/** Searches one after the other while another client writes twenty memories a second. */
export async function measureBesideWrites(
  { client, sentences, stored }: Subject,
  seconds: number,
): Promise<BesideWrites> {
  const searches: Moment[] = [];
  const writes: number[] = [];
  const mainThread: number[] = [];
  const started = performance.now();
  const end = started + seconds * 1_000;

  const write = async () => {
    const pending: Promise<unknown>[] = [];
    // By the clock: a slow write does not put off the next one.
    for (let due = started; due < end; due += 1_000 / WRITES_A_SECOND) {
      await Bun.sleep(Math.max(0, due - performance.now()));
      const memory = sentences.memory();
      stored.add([memory]);
      pending.push(timed(() => client.save(memory)).then((ms) => writes.push(ms)));
    }
    await Promise.all(pending);
  };
  const search = async () => {
    while (performance.now() < end) {
      const at = performance.now() - started;
      searches.push({ at, ms: await timed(() => client.search(sentences.query())) });
    }
  };
  await Promise.all([write(), search(), watchMainThread(client, end, mainThread)]);
  return { searches, writes, mainThread };
}

/** Asks for the server's health ten times a second: how late its main thread comes to a request. */
export async function watchMainThread(
  client: Subject["client"],
  end: number,
  times: number[],
): Promise<void> {
  while (performance.now() < end) {
    times.push(await timed(() => client.health()));
    await Bun.sleep(100);
  }
}

/** Embeds a text alone, then writes it, so many times. */
export async function measureWrite(
  { engine, client, sentences, stored }: Subject,
  times: number,
): Promise<{ floor: number; write: number; p95: number }> {
  const floor: number[] = [];
  const write: number[] = [];
  for (let turn = 0; turn < times; turn++) {
    const memory = sentences.memory();
    stored.add([memory]);
    floor.push(await timed(() => engine.embedContent(memory.content)));
    write.push(await timed(() => client.save(memory)));
  }
  return { floor: median(floor), write: median(write), p95: percentile(write, 0.95) };
}
