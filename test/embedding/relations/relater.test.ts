import { afterAll, expect, test } from "bun:test";
import { relateUpTo } from "../../../src/embedding/relations/relate-up-to.ts";
import { createRelater, type Relate } from "../../../src/embedding/relations/relater.ts";
import { createLog } from "../../../src/log.ts";
import { testCacheDir } from "../../support/embedder.ts";
import { rejectionOf } from "../../support/outcome.ts";
import { until } from "../../support/until.ts";

const lines: string[] = [];
const log = createLog({ logLevel: "debug", logFormat: "text" }, (line) => lines.push(line));
const workers: Worker[] = [];
const spawn = () => {
  const path = new URL("../../../src/embedding/relations/relation-worker.ts", import.meta.url).href;
  const worker = new Worker(path);
  workers.push(worker);
  return worker;
};
const { relate, close } = createRelater({ cacheDir: testCacheDir, log, spawn });
afterAll(close);

test.each([
  ["same", "Anna lives in Porto.", "Anna's home is in Porto."],
  ["changed", "Deploys need approval by a team lead.", "Deploys do *not* need approval."],
  ["neither", "The API runs on Node 18.", "The worker runs on Node 20."],
])("%s: %s, then %s", async (kind, earlier, later) => {
  const { same, changed } = (await relate(earlier, later)) ?? { same: 0, changed: 0 };
  const neither = 1 - same - changed;
  expect(Object.entries({ same, changed, neither }).sort((a, b) => b[1] - a[1])[0]?.[0]).toBe(kind);
});

test("the same pair has the same answer, and a text that is too long has none", async () => {
  const texts = ["Anna lives in Porto.", "Anna moved to Graz last week."] as const;
  expect(await relate(...texts)).toBe(await relate(...texts));
  const start = "word ".repeat(200);
  expect(await relate(start, `${start} and more`)).toBeNull();
});

test("a worker that ends is started again after a while, and the pairs it had are refused", async () => {
  const { length } = workers;
  const pending = rejectionOf(relate("one text", "a text of the worker that ends"));
  workers.at(-1)?.postMessage({ type: "close" });
  expect(await pending).toMatchObject({ code: "unavailable" });
  expect(await rejectionOf(relate("one text", "another"))).toMatchObject({ code: "unavailable" });
  expect(workers).toHaveLength(length);
  expect(lines.filter((line) => line.includes("relations_unavailable"))).toHaveLength(1);
});

test("when many pairs wait, further ones are refused, and those that wait are answered", async () => {
  const many = createRelater({ cacheDir: testCacheDir, log });
  const asked = Array.from({ length: 70 }, (_, at) =>
    many.relate("Anna lives in Porto.", `no. ${at}`),
  );
  const answers = await Promise.allSettled(asked);
  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(64);
  await many.close();
});

test("a pair is refused while more wait than it says, and the same pair of one who waits longer is answered", async () => {
  const busy = createRelater({ cacheDir: testCacheDir, log });
  const asked = ["one", "two", "three"].map((text, ahead) => busy.relate(text, text, ahead));
  const refused = rejectionOf(busy.relate("four", "four", 2));
  const answered = busy.relate("four", "four");
  expect(await refused).toMatchObject({ code: "unavailable" });
  expect(await Promise.all([...asked, answered])).not.toContain(null);
  await busy.close();
});

test("while many searches run, they do without the model, and who saves does not", async () => {
  let isBusy = true;
  const relater = createRelater({ cacheDir: testCacheDir, log, isBusy: () => isBusy });
  expect(await rejectionOf(relater.relate("one", "two", 9))).toMatchObject({ code: "unavailable" });
  const saved = await relater.relate("one", "two");
  expect(saved).not.toBeNull();
  // What is known costs nothing.
  expect(await relater.relate("one", "two", 9)).toBe(saved);
  isBusy = false;
  expect(await relater.relate("one", "three", 9)).not.toBeNull();
  await relater.close();
});

test("a request does without the model after a failure, and asks for a pair once", async () => {
  const calls: unknown[][] = [];
  const ask: Relate = async (...pair) => {
    calls.push(pair);
    if (pair[1] === "refused") throw new Error("busy");
    return { same: 1, changed: 0, answers: 0 };
  };
  const relateFive = relateUpTo(5, ask, 2);
  const answers: (number | undefined)[] = [];
  for (const text of ["one", "one", "refused", "another"]) {
    answers.push((await relateFive("a text", text))?.same);
  }
  expect(answers).toEqual([1, 1, undefined, undefined]);
  expect(calls).toEqual([
    ["a text", "one", 2],
    ["a text", "refused", 2],
  ]);
});

test("a worker that has nothing to do ends, and another one starts when it is needed", async () => {
  const before = workers.length;
  const idle = createRelater({ cacheDir: testCacheDir, log, spawn, idleMs: 1 });
  let ended = 0;
  for (const text of ["the first text", "the second text"]) {
    expect(await idle.relate(text, text)).toMatchObject({ same: expect.any(Number) });
    workers.at(-1)?.addEventListener("close", () => ended++);
    await until("the worker has ended", () => ended === workers.length - before);
  }
  expect(workers).toHaveLength(before + 2);
  await idle.close();
  expect(await rejectionOf(idle.relate("a text", "after the end"))).toMatchObject({
    code: "unavailable",
  });
  expect(workers).toHaveLength(before + 2);
});

test("a folder that can't hold the model refuses pairs with its reason in the log", async () => {
  const broken = createRelater({ cacheDir: "/proc/nothing", log });
  expect(await rejectionOf(broken.relate("a", "b"))).toMatchObject({ code: "unavailable" });
  expect(lines.at(-1)).toContain("/proc/nothing");
  await broken.close();
});
