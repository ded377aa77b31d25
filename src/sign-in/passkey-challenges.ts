import { and, desc, eq, gt, inArray, lte } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { createSignInTables } from "./tables.ts";

/** Milliseconds that a person may take to unlock their device. */
const LIFETIME = 5 * 60_000;
/** Strangers can request challenges: the oldest are removed first. */
const MOST = 10_000;

/** The purpose of a signature. A signature for one purpose is not valid for another. */
export type PasskeyPurpose = "sign-in" | "second-step" | "proof" | "register";

export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>;

/** The store of challenges that browsers must sign. `clock` gives milliseconds since 1970. */
export function createPasskeyChallenges({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const { passkeyChallenges } = db.tables(createSignInTables);
  const nameOf = (browser: string, purpose: PasskeyPurpose) =>
    hashSecret(`challenge ${purpose} ${browser}`);

  return {
    /**
     * Creates a challenge for a browser, which replaces the one before it.
     * @param browser the secret of its cookie
     */
    async create(browser: string, purpose: PasskeyPurpose): Promise<string> {
      const now = clock();
      const challenge = createSecret("");
      const expiresAt = new Date(now + LIFETIME);
      await orm.delete(passkeyChallenges).where(lte(passkeyChallenges.expiresAt, new Date(now)));
      const surplus = orm
        .select({ hash: passkeyChallenges.hash })
        .from(passkeyChallenges)
        .orderBy(desc(passkeyChallenges.expiresAt))
        .limit(MOST)
        .offset(MOST - 1);
      await orm.delete(passkeyChallenges).where(inArray(passkeyChallenges.hash, surplus));
      await orm
        .insert(passkeyChallenges)
        .values({ hash: nameOf(browser, purpose), challenge, expiresAt })
        .onConflictDoUpdate({ target: passkeyChallenges.hash, set: { challenge, expiresAt } });
      return challenge;
    },

    /** Removes and returns the challenge of a browser; null for none. */
    async take(browser: string, purpose: PasskeyPurpose): Promise<string | null> {
      const [taken] = await orm
        .delete(passkeyChallenges)
        .where(
          and(
            eq(passkeyChallenges.hash, nameOf(browser, purpose)),
            gt(passkeyChallenges.expiresAt, new Date(clock())),
          ),
        )
        .returning({ challenge: passkeyChallenges.challenge });
      return taken?.challenge ?? null;
    },
  };
}
