import { afterEach, expect, test } from "bun:test";
import { createTurns } from "../../src/http/load/turns.ts";
import { until } from "../support/until.ts";

/** Lets every request of the test end. */
let endAll: (() => void)[] = [];
afterEach(() => {
  for (const end of endAll) end();
  endAll = [];
});

/** Turns, and what has begun. */
function start(options?: Parameters<typeof createTurns>[0]) {
  const turns = createTurns(options);
  const begun: string[] = [];
  return {
    turns,
    begun,
    /** Sends a request that is answered when the returned function is called. */
    send(name: string, accountId: string) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const handle = turns.endTurns(async (request) => {
        await turns.take(request, accountId);
        begun.push(name);
        await promise;
      });
      void handle(new Request(`http://localhost/${name}`));
      endAll.push(resolve);
      return resolve;
    },
    /** Begins a step of a long answer, which ends when the returned function is called. */
    step(name: string, accountId: string) {
      const { promise, resolve } = Promise.withResolvers<void>();
      void turns.step(accountId, async () => {
        begun.push(name);
        await promise;
      });
      endAll.push(resolve);
      return resolve;
    },
  };
}

/** Blocks the main thread for longer than the turns allow. */
async function work() {
  // The first look begins before the step.
  await Bun.sleep(10);
  block();
  await Bun.sleep(10);
}

function block() {
  for (const end = performance.now() + 40; performance.now() < end; );
}

test("the requests of an account begin one after another while the main thread is busy and another account uses it", async () => {
  const { send, begun } = start({ patience: 60_000 });
  send("other", "B");
  const endFirst = send("first", "A");
  await work();
  const endSecond = send("second", "A");
  send("third", "A");
  expect(begun).toEqual(["other", "first"]);
  endFirst();
  await until("the second has begun", () => begun.includes("second"));
  expect(begun).not.toContain("third");
  endSecond();
  await until("the third has begun", () => begun.includes("third"));
});

test("an account with several requests at once rests three times as long as one took, the others do not", async () => {
  const { send, begun } = start({ patience: 60_000 });
  const endOther = send("other", "B");
  const began = performance.now();
  const endFirst = send("first", "A");
  await work();
  send("second", "A");
  const took = performance.now() - began;
  endFirst();
  endOther();
  await Bun.sleep(0);
  send("next of the other", "B");
  await Bun.sleep(0);
  expect(begun).toEqual(["other", "first", "next of the other"]);
  await until("the second has begun", () => begun.includes("second"));
  // An account rests for 400 ms at the most.
  expect(performance.now() - began - took).toBeGreaterThanOrEqual(Math.min(2 * took, 390));
});

test("an account whose requests are answered one by one in the same round has several at once", async () => {
  const { send, begun } = start({ patience: 60_000 });
  send("other", "B");
  const endEarly = send("early", "A");
  await work();
  endEarly();
  await Bun.sleep(0);
  for (const name of ["first", "second"]) {
    const end = send(name, "A");
    block();
    end();
    // It ends in this round of the event loop.
    for (let step = 0; step < 50; step++) await Promise.resolve();
  }
  send("third", "A");
  await Bun.sleep(0);
  expect(begun).toEqual(["other", "early", "first", "second"]);
  await until("the third has begun", () => begun.includes("third"));
});

test("the turn of a request with a large answer lasts longer", async () => {
  const { turns, send, begun } = start({ patience: 60_000 });
  send("other", "B");
  const request = new Request("http://localhost/large");
  const over = await turns.endTurns(async () => {
    await turns.take(request, "A");
    return turns.prolong(request);
  })(request);
  await work();
  send("next", "A");
  expect(begun).toEqual(["other"]);
  (over as () => void)();
  await until("the next has begun", () => begun.includes("next"));
});

test("the turn of a request lasts until the work is done that it does beside its answer", async () => {
  const { turns, send, begun } = start({ patience: 60_000 });
  send("other", "B");
  const request = new Request("http://localhost/stream");
  const { promise, resolve } = Promise.withResolvers<void>();
  endAll.push(resolve);
  await turns.endTurns(async () => {
    await turns.take(request, "A");
    void turns.during(request, "A", () => promise);
  })(request);
  await work();
  send("next", "A");
  expect(begun).toEqual(["other"]);
  resolve();
  await until("the next has begun", () => begun.includes("next"));
});

test("work that begins after the answer takes a turn of its own", async () => {
  const { turns, send, begun } = start({ patience: 60_000 });
  send("other", "B");
  const endFirst = send("first", "A");
  await work();
  const done = turns.during(new Request("http://localhost/stream"), "A", async () => {
    begun.push("late");
  });
  expect(begun).toEqual(["other", "first"]);
  endFirst();
  await done;
  expect(begun).toEqual(["other", "first", "late"]);
});

test("the steps of long answers wait for each other, and for the requests of their account", async () => {
  const { send, step, begun } = start({ patience: 60_000 });
  send("other", "B");
  const endRequest = send("request", "A");
  await work();
  const endFirst = step("first page", "A");
  step("second page", "A");
  expect(begun).toEqual(["other", "request"]);
  endRequest();
  await until("the first page is read", () => begun.includes("first page"));
  expect(begun).not.toContain("second page");
  endFirst();
  await until("the second page is read", () => begun.includes("second page"));
});

test("requests begin at once while no other account is active", async () => {
  const { send, begun } = start({ patience: 60_000 });
  send("first", "A");
  await work();
  send("second", "A");
  await until("both have begun", () => begun.length === 2);
});

test("requests begin at once while no step takes long", async () => {
  const { send, begun } = start({ patience: 60_000 });
  for (const [name, account] of [
    ["other", "B"],
    ["first", "A"],
    ["second", "A"],
  ] as const) {
    send(name, account);
  }
  await until("all have begun", () => begun.length === 3);
});

test("requests that wait begin when the other account has gone", async () => {
  const { send, begun } = start({ patience: 60_000 });
  const endOther = send("other", "B");
  send("first", "A");
  await work();
  send("second", "A");
  expect(begun).not.toContain("second");
  endOther();
  await until("the second has begun", () => begun.includes("second"));
});

test("no request waits forever for another that waits for something else", async () => {
  const { send, begun } = start({ patience: 100 });
  send("other", "B");
  send("waits for the model", "A");
  await work();
  send("second", "A");
  await until("the second has begun", () => begun.includes("second"));
});
