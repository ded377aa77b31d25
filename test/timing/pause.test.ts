import { expect, test } from "bun:test";
import { createPause, createTurnstile } from "../../src/timing/pause.ts";

const TASKS = 40;
const WORK_MS = 5;

const work = () => {
  const end = performance.now() + WORK_MS;
  while (performance.now() < end);
};

test("a turnstile lets tasks pass in the order of their calls, and requests be answered in between", async () => {
  using server = Bun.serve({ port: 0, fetch: () => new Response("answered") });
  const pass = createTurnstile();
  const done: number[] = [];
  const task = async (number: number) => {
    await pass();
    work();
    done.push(number);
  };
  const all = Promise.all(Array.from({ length: TASKS }, (_, number) => task(number)));
  await fetch(server.url);
  expect(done.length).toBeLessThan(TASKS);
  await all;
  expect(done).toEqual(done.map((_, number) => number));
  expect(done).toHaveLength(TASKS);
});

test("of several long works one goes on in each turn of the event loop, in order", async () => {
  const STEPS = 3;
  const WORKS = 8;
  let turn = 0;
  let isOver = false;
  const count = () => {
    turn++;
    if (!isOver) setImmediate(count);
  };
  const steps: { number: number; turn: number }[] = [];
  const longWork = async (number: number) => {
    const pause = createPause();
    for (let step = 0; step < STEPS; step++) {
      work();
      await pause();
      steps.push({ number, turn });
    }
  };
  setImmediate(count);
  await Promise.all(Array.from({ length: WORKS }, (_, number) => longWork(number)));
  isOver = true;
  expect(steps).toHaveLength(STEPS * WORKS);
  expect(new Set(steps.map((step) => step.turn)).size).toBe(STEPS * WORKS);
  const order = steps.map(({ number }) => number);
  expect(order).toEqual(order.map((_, at) => at % WORKS));
});
