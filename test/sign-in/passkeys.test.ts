import { describe, expect, test } from "bun:test";
import { createPasskeyChallenges } from "../../src/sign-in/passkeys/passkeys.ts";
import { createSignInTables } from "../../src/sign-in/tables.ts";
import { DATABASES } from "../support/databases.ts";
import { outcomeOf } from "../support/outcome.ts";
import { passkey, startFactors } from "./support/factor-stores.ts";

const MINUTE = 60_000;

describe.each(DATABASES)("on %s,", (_, place) => {
  describe("passkeys", () => {
    test("belong to one account each, and keep the public key and the signature counter", async () => {
      const { passkeys, one, two, clock } = await startFactors(place);
      await passkeys.add(one, passkey("a"));
      expect(await outcomeOf(passkeys.add(two, passkey("a")))).toThrow("already in use here");
      expect(await passkeys.findAccount("a")).toBe(one);
      expect(await passkeys.find(two, "a")).toBeNull();
      const { name: _, ...rest } = passkey("a");
      expect(await passkeys.find(one, "a")).toEqual(rest);
      expect(await passkeys.list(one)).toMatchObject([{ name: "laptop", lastUsedAt: null }]);
      expect(await passkeys.markUsed(two, "a", 9)).toBe(false);
      expect((await passkeys.find(one, "a"))?.counter).toBe(0);
      const uses = [9, 9, 9].map((count) => passkeys.markUsed(one, "a", count));
      expect((await Promise.all(uses)).filter(Boolean)).toHaveLength(1);
      expect(await passkeys.markUsed(one, "a", 0)).toBe(false);
      expect((await passkeys.find(one, "a"))?.counter).toBe(9);
      expect((await passkeys.list(one))[0]?.lastUsedAt).toEqual(new Date(clock()));
      expect(await outcomeOf(passkeys.remove(two, "a"))).toThrow("no such passkey");
      await passkeys.remove(one, "a");
      expect(await passkeys.markUsed(one, "a", 10)).toBe(false);
      expect(await passkeys.count(one)).toBe(0);
    });

    test("are limited to 20 for each account, with names of at most 60 characters", async () => {
      const { passkeys, one } = await startFactors(place);
      for (const name of ["x".repeat(61), "a\u0000b", "a\nb"]) {
        expect(await outcomeOf(passkeys.add(one, { ...passkey("x"), name }))).toThrow("at most 60");
      }
      for (let count = 0; count < 20; count++) await passkeys.add(one, passkey(`${count}`));
      expect(await outcomeOf(passkeys.add(one, passkey("more")))).toThrow("at most 20");
    });

    test("challenges are for one browser and one purpose, valid once, and limited in number", async () => {
      const { db, clock } = await startFactors(place);
      const challenges = createPasskeyChallenges({ db, clock });
      const challenge = await challenges.create("browser", "sign-in");
      expect(await challenges.take("browser", "proof")).toBeNull();
      expect(await challenges.take("other", "sign-in")).toBeNull();
      expect(await challenges.take("browser", "sign-in")).toBe(challenge);
      expect(await challenges.take("browser", "sign-in")).toBeNull();
      await challenges.create("browser", "sign-in");
      clock.advance(5 * MINUTE);
      expect(await challenges.take("browser", "sign-in")).toBeNull();
      const { passkeyChallenges } = db.tables(createSignInTables);
      for (let made = 0; made < 10_000; made += 1_000) {
        const rows = Array.from({ length: 1_000 }, (_, at) => ({
          hash: `${made + at}`,
          challenge: "x",
          expiresAt: new Date(clock() + 1 + made + at),
        }));
        await db.orm.insert(passkeyChallenges).values(rows);
      }
      await challenges.create("browser", "sign-in");
      const all = await db.orm.select().from(passkeyChallenges);
      const kept = all.filter(({ challenge: each }) => each === "x");
      expect(kept).toHaveLength(9_999);
      expect(kept.map(({ hash }) => hash)).not.toContain("0");
    });
  });
});
