import { describe, expect, test } from "bun:test";
import { createFactors } from "../../src/sign-in/second-step/factors.ts";
import { DATABASES } from "../support/databases.ts";
import { outcomeOf } from "../support/outcome.ts";
import { createAppFor, startFactors } from "./support/factor-stores.ts";

const STEP = 30_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

describe.each(DATABASES)("on %s,", (_, place) => {
  describe("one-time codes", () => {
    test("are required after the first right one, and their secret is not shown again", async () => {
      const parts = await startFactors(place);
      const { oneTimeCodes, one, two } = parts;
      const app = await createAppFor(parts);
      expect(await oneTimeCodes.isSetUp(one)).toBe(false);
      expect(await oneTimeCodes.use(one, app.code(), null)).toBe(false);
      expect(await oneTimeCodes.confirm(one, app.code(3))).toBe(false);
      expect(await oneTimeCodes.confirm(two, app.code())).toBe(false);
      expect(
        await oneTimeCodes.confirm(one, ` ${app.code().slice(0, 3)} ${app.code().slice(3)}`),
      ).toBe(true);
      expect(await oneTimeCodes.isSetUp(one)).toBe(true);
      expect(await oneTimeCodes.isSetUp(two)).toBe(false);
      expect(await oneTimeCodes.findUnconfirmed(one)).toBeNull();
      expect(await outcomeOf(oneTimeCodes.begin(one))).toThrow("remove it first");
      expect(await oneTimeCodes.confirm(one, app.code(1))).toBe(false);
    });

    test("a new secret replaces one that was not confirmed", async () => {
      const parts = await startFactors(place);
      const former = await createAppFor(parts);
      const app = await createAppFor(parts);
      expect(await parts.oneTimeCodes.confirm(parts.one, former.code())).toBe(false);
      expect(await parts.oneTimeCodes.confirm(parts.one, app.code())).toBe(true);
    });

    test("are accepted one step early or late, each once, and never after a later one", async () => {
      const parts = await startFactors(place);
      const { oneTimeCodes, one, clock } = parts;
      const app = await createAppFor(parts);
      await oneTimeCodes.confirm(one, app.code());
      expect(await oneTimeCodes.use(one, app.code(), null)).toBe(false);
      clock.advance(10 * STEP);
      for (const steps of [-2, 2])
        expect(await oneTimeCodes.use(one, app.code(steps), null)).toBe(false);
      expect(await oneTimeCodes.use(one, app.code(-1), null)).toBe(true);
      expect(await oneTimeCodes.use(one, app.code(-1), null)).toBe(false);
      expect(await oneTimeCodes.use(one, app.code(1), null)).toBe(true);
      expect(await oneTimeCodes.use(one, app.code(), null)).toBe(false);
      for (const wrong of ["", "abcdef", "1234567", "-12345", "１２３４５６"]) {
        expect(await oneTimeCodes.use(one, wrong, null)).toBe(false);
      }
    });

    test("ten wrong codes a day are allowed, and a restart does not reset their number", async () => {
      const parts = await startFactors(place);
      const { one, db, clock } = parts;
      const app = await createAppFor(parts);
      await parts.oneTimeCodes.confirm(one, app.code());
      clock.advance(HOUR);
      for (let count = 0; count < 10; count++) {
        const { oneTimeCodes } = createFactors({ db, clock });
        expect(await oneTimeCodes.use(one, "x", null)).toBe(false);
      }
      const { oneTimeCodes } = createFactors({ db, clock });
      expect(await outcomeOf(oneTimeCodes.use(one, app.code(), null))).toThrow(
        "Try again in 144 minutes",
      );
      clock.advance(144 * MINUTE);
      expect(await oneTimeCodes.use(one, app.code(), null)).toBe(true);
      expect(await oneTimeCodes.use(one, "x", null)).toBe(false);
      expect(await outcomeOf(oneTimeCodes.use(one, "x", null))).toThrow("Too many wrong codes");
      // Tries in other browsers do not lock out a browser that signed in before.
      expect(await oneTimeCodes.use(one, "x", "a known browser")).toBe(false);
      clock.advance(25 * HOUR);
      expect(await oneTimeCodes.use(one, app.code(), "a known browser")).toBe(true);
    });
  });
});
