import { afterEach, describe, expect, test } from "bun:test";
import type { ContentEmbedding } from "../../src/embedding/embedder.ts";
import { createEnginePool, defaultEngines } from "../../src/embedding/engine-pool.ts";
import type { TextKind, WorkerConnection } from "../../src/embedding/worker-connection.ts";
import { spawnWorker } from "../../src/embedding/worker-connection.ts";
import { createWorkerEmbedder } from "../../src/embedding/worker-embedder.ts";
import { AppError } from "../../src/errors.ts";
import { readResources } from "../../src/system/processes.ts";
import { temporaryFolder } from "../support/database.ts";
import { silentLog, testCacheDir } from "../support/embedder.ts";
import { rejectionOf } from "../support/outcome.ts";
import { until } from "../support/until.ts";

const LONG = "Nobody had anything to add to the report. ".repeat(40);
const closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

/** An engine whose texts the test finishes. It only shows where the pool sends them. */
function createFakeEngine() {
  const loaded = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<Error>();
  loaded.promise.catch(() => {});
  const waiting = new Map<string, PromiseWithResolvers<ContentEmbedding>>();
  let reason: Error | null = null;
  let givesWay = false;
  const fail = (error: Error) => {
    reason = error;
    for (const { reject } of waiting.values()) reject(new AppError("unavailable", "It ended."));
    waiting.clear();
    loaded.reject(error);
    ended.resolve(error);
  };
  const connection = {
    loaded: loaded.promise,
    ended: ended.promise,
    embed(_type: TextKind, text: string, { signal }: { signal?: AbortSignal }) {
      if (reason) return Promise.reject(new AppError("unavailable", "It ended."));
      const call = Promise.withResolvers<ContentEmbedding>();
      waiting.set(text, call);
      signal?.addEventListener("abort", () => {
        waiting.delete(text);
        call.reject(new AppError("unavailable", "Nobody waits."));
      });
      return call.promise;
    },
    giveWay() {
      givesWay = true;
    },
    end: async (error: Error) => fail(error),
  };
  return {
    connection: connection as unknown as WorkerConnection,
    texts: () => [...waiting.keys()].map((text) => text.slice(0, 2)),
    load: () => loaded.resolve(),
    fail,
    isEnded: () => reason !== null,
    givesWay: () => givesWay,
    finish(start: string) {
      const [text] = [...waiting.keys()].filter((each) => each.startsWith(start));
      const call = waiting.get(text ?? "");
      waiting.delete(text ?? "");
      call?.resolve({ vectors: [], starts: [], states: new Int8Array(0) });
    },
  };
}

function start(size: number, idleMs = 60_000) {
  const engines: ReturnType<typeof createFakeEngine>[] = [];
  const ends: (number | null)[] = [];
  const pool = createEnginePool({
    connect() {
      const engine = createFakeEngine();
      engines.push(engine);
      return engine.connection;
    },
    size,
    idleMs,
    onEnd: (_, restartMs) => ends.push(restartMs),
  });
  closing.push(pool.close);
  const embed = (text: string, accountId = "acc_1", signal?: AbortSignal) =>
    pool.embed("content", text, { accountId, ...(signal && { signal }) });
  return { engines, ends, embed };
}

/** Finishes texts, wherever the pool moves them, until all are embedded. */
async function finishAll(
  engines: ReturnType<typeof createFakeEngine>[],
  all: readonly Promise<unknown>[],
): Promise<void> {
  const finished = Promise.all(all).then(() => true);
  await until("all are embedded", () => {
    for (const engine of engines) for (const text of engine.texts()) engine.finish(text);
    return Promise.race([finished, false]);
  });
}

const textsOf = (engines: ReturnType<typeof createFakeEngine>[]) =>
  engines.map(({ texts }) => texts());

describe("a pool of engines", () => {
  test("starts another when texts wait, and keeps the first one for light texts", async () => {
    const { engines, embed } = start(2);
    const all = [embed("S1"), embed(`L1${LONG}`)];
    expect(engines).toHaveLength(1);
    all.push(embed(`L2${LONG}`), embed(`L3${LONG}`), embed("S2"));
    expect(engines).toHaveLength(2);
    expect(textsOf(engines)).toEqual([["S1", "L1", "L2", "L3", "S2"], []]);
    engines[1]?.load();
    await until("it has taken over", () => engines[1]?.texts().length === 3);
    expect(textsOf(engines)).toEqual([
      ["S1", "S2"],
      ["L1", "L2", "L3"],
    ]);
    expect(engines.map(({ givesWay }) => givesWay())).toEqual([false, false]);
    // This account has many texts, another one has few.
    for (const name of ["S3", "S4", "S5", "S6", "S7"]) all.push(embed(name + "x".repeat(400)));
    all.push(embed("T1", "acc_2"), embed(`T2${LONG}`, "acc_2"), embed("T3", "acc_2"));
    expect(textsOf(engines)).toEqual([
      ["S1", "S2", "S3", "S4", "S5", "S6", "T1", "T3"],
      ["L1", "L2", "L3", "S7", "T2"],
    ]);
    expect(engines.map(({ givesWay }) => givesWay())).toEqual([false, true]);
    await finishAll(engines, all);
  });

  test("long texts wait for the second engine while several accounts embed texts", async () => {
    const { engines, embed } = start(2);
    const all = [embed("S1", "acc_2"), embed(`L1${LONG}`), embed(`L2${LONG}`), embed(`L3${LONG}`)];
    all.push(embed(`L4${LONG}`), embed("S2", "acc_2"));
    expect(textsOf(engines)).toEqual([["S1", "S2"], []]);
    expect(engines.map(({ givesWay }) => givesWay())).toEqual([false, true]);
    engines[1]?.load();
    await until("it has taken over", () => engines[1]?.texts().length === 4);
    await finishAll(engines, all);
  });

  test("texts that wait for an engine that does not start go to the first one", async () => {
    const { engines, embed } = start(2);
    const all = [embed("S1", "acc_2"), embed(`L1${LONG}`), embed(`L2${LONG}`), embed(`L3${LONG}`)];
    expect(textsOf(engines)).toEqual([["S1"], []]);
    engines[1]?.fail(new Error("crashed"));
    await until("it has them", () => engines[0]?.texts().length === 4);
    await finishAll(engines, all);
  });

  test("a text that waits for an engine goes when its client does, and the others when the pool is closed", async () => {
    const { embed } = start(2);
    const client = new AbortController();
    void embed("S1", "acc_2").catch(() => {});
    void embed(`L1${LONG}`).catch(() => {});
    const left = embed(`L2${LONG}`, "acc_1", client.signal);
    const kept = embed(`L3${LONG}`);
    client.abort();
    expect(await rejectionOf(left)).toMatchObject({ code: "unavailable" });
    for (const close of closing.splice(0)) await close();
    expect(await rejectionOf(kept)).toMatchObject({ code: "unavailable" });
  });

  test("an engine that has little to do takes texts over", async () => {
    const { engines, embed } = start(3);
    const all = ["10", "11", "12", "13"].map((text) => embed(text + LONG));
    engines[1]?.load();
    await until("it has taken over", () => engines[1]?.texts().length === 4);
    all.push(embed(`14${LONG}`));
    engines[2]?.load();
    await until("it has taken over", () => engines[2]?.texts().length === 2);
    expect(textsOf(engines)).toEqual([[], ["10", "11", "12"], ["13", "14"]]);
    for (const text of ["13", "14"]) engines[2]?.finish(text);
    await until("it has taken over", () => engines[2]?.texts()[0] === "12");
    await finishAll(engines, all);
  });

  test("many people's sentences wait for no single engine, and a batch starts all it needs", async () => {
    const { engines, embed } = start(3);
    const all = Array.from({ length: 90 }, (_, n) =>
      embed(`${n + 10}${"x".repeat(98)}`, `acc_${n}`),
    );
    expect(engines).toHaveLength(2);
    engines[1]?.load();
    await until("it is loaded", () => {
      all.push(embed("one more", `acc_${all.length}`));
      return engines[1]?.texts().length !== 0;
    });
    await finishAll(engines, all);
    const batch = Array.from({ length: 40 }, (_, n) => embed(`${n + 10}${LONG}`));
    await until("a third one is started", () => engines.length === 3);
    await finishAll(engines, batch);
  });

  test("has as many engines as it may have", async () => {
    const { engines, embed } = start(3);
    for (let n = 10; n < 30; n++) void embed(`${n}${LONG}`).catch(() => {});
    expect(engines).toHaveLength(2);
    engines[1]?.load();
    await until("it has taken over", () => (engines[1]?.texts().length ?? 0) > 1);
    for (let n = 30; n < 50; n++) void embed(`${n}${LONG}`).catch(() => {});
    expect(engines).toHaveLength(3);
    engines[2]?.load();
    await until("it has taken over", () => (engines[2]?.texts().length ?? 0) > 1);
    for (let n = 50; n < 90; n++) void embed(`${n}${LONG}`).catch(() => {});
    expect(engines).toHaveLength(3);
    expect(textsOf(engines).flat().toSorted()).toEqual(
      Array.from({ length: 80 }, (_, n) => `${n + 10}`),
    );
  });

  test("ends an engine that had nothing to do, without a word", async () => {
    const { engines, ends, embed } = start(2, 1);
    const all = [embed(`L1${LONG}`), embed(`L2${LONG}`), embed(`L3${LONG}`)];
    engines[1]?.load();
    await until("it has taken over", () => engines[1]?.texts().length === 3);
    await finishAll(engines, all);
    await until("it has ended", () => engines[1]?.isEnded() === true);
    expect(ends).toEqual([]);
  });

  test("loses no text of an engine that ends, but gives none a third chance", async () => {
    const { engines, ends, embed } = start(2);
    const all = [embed("S1"), embed(`L1${LONG}`), embed(`L2${LONG}`), embed(`L3${LONG}`)];
    engines[1]?.load();
    await until("it has taken over", () => engines[1]?.texts().length === 3);
    engines[1]?.fail(new Error("crashed"));
    await until("its texts are back", () => engines[0]?.texts().length === 4);
    expect(ends).toEqual([null]);
    // Another one that ends so soon is not started again at once.
    all.push(embed(`L4${LONG}`));
    expect(engines).toHaveLength(2);
    engines[0]?.finish("S1");
    engines[0]?.fail(new Error("crashed"));
    const outcomes = await Promise.allSettled(all);
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "rejected",
      "rejected",
    ]);
  });

  test("takes the text of a client that has gone from the engine that has it by now", async () => {
    const { engines, embed } = start(2);
    const client = new AbortController();
    void embed(`L1${LONG}`).catch(() => {});
    const left = embed(`L2${LONG}`, "acc_1", client.signal);
    void embed(`L3${LONG}`).catch(() => {});
    engines[1]?.load();
    await until("it has taken over", () => engines[1]?.texts().length === 3);
    client.abort();
    expect(await rejectionOf(left)).toMatchObject({ code: "unavailable" });
    expect(textsOf(engines)).toEqual([[], ["L1", "L3"]]);
  });
});

test("several engines make the same vectors as one, while one of them ends", async () => {
  const workers: Worker[] = [];
  const spawn = () => {
    const worker = spawnWorker();
    workers.push(worker);
    return worker;
  };
  const options = { cacheDir: testCacheDir, log: silentLog };
  const one = createWorkerEmbedder(options);
  const many = createWorkerEmbedder({ ...options, engines: 3, spawn });
  closing.push(one.close, many.close);
  const texts = Array.from({ length: 12 }, (_, n) => `${n} ${LONG.slice(0, 10 + n * 140)}`);
  const expected = await Promise.all(texts.map((text) => one.embedContent(text)));
  const embedAll = () => Promise.all(texts.map((text) => many.embedContent(text)));
  expect(await embedAll()).toEqual(expected);
  await until("another engine runs", async () => {
    if (workers.length < 2) await embedAll();
    return workers.length > 1;
  });
  const during = embedAll();
  workers.at(-1)?.postMessage({ type: "close" });
  expect(await during).toEqual(expected);
});

test("a machine gets engines by its cores and its memory", () => {
  const GB = 1 << 30;
  expect(defaultEngines({ cores: 2, memory: 8 * GB })).toBe(3);
  expect(defaultEngines({ cores: 16, memory: 64 * GB })).toBe(9);
  expect(defaultEngines({ cores: 16, memory: 2 * GB })).toBe(4);
  expect(defaultEngines({ cores: 0.5, memory: 8 * GB })).toBe(1);
  expect(defaultEngines({ cores: 4, memory: GB / 2 })).toBe(1);
});

test.skipIf(process.platform !== "linux")("a container's limits count", async () => {
  const folder = temporaryFolder();
  const machine = readResources(folder);
  await Bun.write(`${folder}/cpu.max`, "50000 100000\n");
  await Bun.write(`${folder}/memory.max`, "268435456\n");
  expect(readResources(folder)).toEqual({ cores: 0.5, memory: 268_435_456 });
  await Bun.write(`${folder}/cpu.max`, "max 100000\n");
  await Bun.write(`${folder}/memory.max`, "max\n");
  expect(readResources(folder)).toEqual(machine);
});
