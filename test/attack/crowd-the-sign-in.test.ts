import { describe, expect, test } from "bun:test";
import { createLocalEphemeral } from "../../src/db/ephemeral.ts";
import { createHashing, createSignIn } from "../../src/sign-in/sign-in.ts";
import { testClock } from "../support/database.ts";
import { outcomeOf, rejectionOf } from "../support/outcome.ts";

const EMAIL = "you@example.com";
const HOME = "203.0.113.1";

describe("a crowd that keeps the server busy with passwords", () => {
  /** A sign-in whose hashing ends when the test says. */
  function createBusy() {
    const started: { email: string; finish: () => void }[] = [];
    const clock = testClock();
    const verifyPassword = (email: string) =>
      new Promise<null>((resolve) => {
        started.push({ email, finish: () => resolve(null) });
      });
    const { check } = createSignIn({
      accounts: { verifyPassword },
      hashing: createHashing(),
      ephemeral: createLocalEphemeral(clock),
    });
    const attempt = (email: string, address: string, browser: string | null = null) =>
      check({ email, password: "whatever" }, { address, browser });
    return { attempt, started, clock };
  }

  const settle = () => new Promise((resolve) => setImmediate(resolve));

  test("does not use up the tries of clients that are refused because of it", async () => {
    const { attempt, started } = createBusy();
    const crowd = [...Array(52).keys()].map((n) => attempt(`p${n}@example.com`, `192.0.2.${n}`));
    await settle();
    for (let count = 0; count < 40; count++) {
      expect(await outcomeOf(attempt(EMAIL, HOME))).toThrow("Too many people");
    }
    for (let done = 0; done < 52; done++) {
      started[done]?.finish();
      await settle();
    }
    await Promise.all(crowd);
    const own = attempt(EMAIL, HOME);
    await settle();
    started.at(-1)?.finish();
    expect(await own).toBeNull();
  });

  test("does not lock out a browser that signed in before, which gets every second turn", async () => {
    const { attempt, started } = createBusy();
    const crowd = [...Array(52).keys()].map((n) => attempt(`p${n}@example.com`, `192.0.2.${n}`));
    await settle();
    const own = attempt(EMAIL, HOME, "known");
    await settle();
    for (let done = 0; done < 2; done++) {
      started[done]?.finish();
      await settle();
    }
    expect(started.map(({ email }) => email)).toContain(EMAIL);
    for (let done = 2; done < 53; done++) {
      started[done]?.finish();
      await settle();
    }
    await Promise.all([own, ...crowd]);
  });
});

test("many tries at invented accounts do not reset the tries at a real account", async () => {
  const verifyPassword = async () => null;
  const parts = {
    accounts: { verifyPassword },
    hashing: createHashing(),
    ephemeral: createLocalEphemeral(testClock()),
  };
  const { check } = createSignIn(parts);
  const attempt = (email: string, address: string) =>
    check({ email, password: "x" }, { address, browser: null });
  for (let count = 0; count < 30; count++) await attempt(EMAIL, `192.0.2.${count}`);
  for (let count = 0; count < 25_000; count++) {
    // One or two invented accounts share the slot of the real one.
    await attempt(`p${count}@x.com`, `a${count}`).catch(() => null);
  }
  expect(await rejectionOf(attempt(EMAIL, HOME))).toMatchObject({ code: "rate_limited" });
});
