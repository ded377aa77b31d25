import { describe, expect, test } from "bun:test";
import { createEphemeral } from "../../src/db/ephemeral.ts";
import { AppError } from "../../src/errors.ts";
import { createPasskeyChallenges } from "../../src/sign-in/passkeys/passkeys.ts";
import { createFactors } from "../../src/sign-in/second-step/factors.ts";
import { toBase32 } from "../../src/sign-in/second-step/one-time-codes.ts";
import { createPendingSignIns } from "../../src/sign-in/second-step/second-step.ts";
import { createCodeApp } from "../support/code-app.ts";
import { DATABASES, type Place, storesOn } from "../support/databases.ts";
import { rejectionOf } from "../support/outcome.ts";
import { addAccount } from "../support/stores.ts";

/* Guesses that are sent at one moment, to several servers, are no more than those that come one by one. */

const MANY = 24;
const HOUR = 3_600_000;

/** An account, and the stores of two servers. */
async function start(place: Place) {
  const { db, beside, clock, accounts } = await storesOn(place);
  const { id } = await addAccount(accounts);
  const servers = [db, (await beside()).db].map((on) => {
    const ephemeral = createEphemeral({ db: on, clock });
    return {
      ephemeral,
      factors: createFactors({ db: on, clock, ephemeral }),
      pending: createPendingSignIns({ db: on, clock }),
      challenges: createPasskeyChallenges({ db: on, clock }),
    };
  });
  type Server = (typeof servers)[number];
  const [first] = servers;
  if (!first) throw new Error("no server");
  /** Calls the servers alternately without waiting. Returns results and errors. */
  const atOnce = <T>(ask: (server: Server) => Promise<T>): Promise<(T | AppError)[]> =>
    Promise.all(
      Array.from({ length: MANY }, (_, n) =>
        ask(servers[n % servers.length] ?? first).catch((error: unknown) => {
          if (error instanceof AppError) return error;
          throw error;
        }),
      ),
    );
  return { id, clock, first, atOnce };
}

describe.each(DATABASES)("on %s,", (_, place) => {
  test("a pending sign-in accepts five tries", async () => {
    const { id, first, atOnce } = await start(place);
    const secret = await first.pending.begin(id, null);
    const taken = await atOnce(({ pending }) => pending.take(secret));
    const looked = taken.filter((each) => each !== null && !(each instanceof AppError));
    expect(looked.length).toBeLessThanOrEqual(5);
    expect(looked.length).toBeGreaterThan(0);
  });

  test("an account accepts ten wrong codes, and no right code after them", async () => {
    const { id, clock, first, atOnce } = await start(place);
    const { oneTimeCodes } = first.factors;
    await oneTimeCodes.begin(id);
    const app = createCodeApp(
      toBase32((await oneTimeCodes.findUnconfirmed(id)) ?? new Uint8Array()),
      clock,
    );
    await oneTimeCodes.confirm(id, app.code());
    clock.advance(HOUR);
    const wrong = app.code(9);
    let looked = 0;
    for (let round = 0; round < 3; round++) {
      const guesses = await atOnce(({ factors }) => factors.oneTimeCodes.use(id, wrong, null));
      looked += guesses.filter((each) => each === false).length;
    }
    expect(looked).toBe(10);
    expect(await rejectionOf(oneTimeCodes.use(id, app.code(), null))).toMatchObject({
      code: "rate_limited",
    });
  });

  test("a right code is accepted once", async () => {
    const { id, clock, first, atOnce } = await start(place);
    const { oneTimeCodes } = first.factors;
    await oneTimeCodes.begin(id);
    const app = createCodeApp(
      toBase32((await oneTimeCodes.findUnconfirmed(id)) ?? new Uint8Array()),
      clock,
    );
    await oneTimeCodes.confirm(id, app.code());
    clock.advance(HOUR);
    const code = app.code();
    const used = await atOnce(({ factors }) => factors.oneTimeCodes.use(id, code, null));
    expect(used.filter((each) => each === true)).toHaveLength(1);
  });

  test("a challenge is accepted once", async () => {
    const { first, atOnce } = await start(place);
    const challenge = await first.challenges.create("browser", "sign-in");
    const taken = await atOnce(({ challenges }) => challenges.take("browser", "sign-in"));
    expect(taken.filter((each) => each === challenge)).toHaveLength(1);
  });
});
