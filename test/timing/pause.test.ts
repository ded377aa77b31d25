import { expect, test } from "bun:test";
import { createTurnstile } from "../../src/timing/pause.ts";

const TASKS = 40;
const WORK_MS = 5;

test("a turnstile lets tasks pass in the order of their calls, and requests be answered in between", async () => {
  using server = Bun.serve({ port: 0, fetch: () => new Response("answered") });
  const pass = createTurnstile();
  const done: number[] = [];
  const task = async (number: number) => {
    await pass();
    const end = performance.now() + WORK_MS;
    while (performance.now() < end);
    done.push(number);
  };
  const all = Promise.all(Array.from({ length: TASKS }, (_, number) => task(number)));
  await fetch(server.url);
  expect(done.length).toBeLessThan(TASKS);
  await all;
  expect(done).toEqual(done.map((_, number) => number));
  expect(done).toHaveLength(TASKS);
});
