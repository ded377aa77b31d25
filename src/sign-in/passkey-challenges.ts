import { and, desc, eq, gt, inArray, lte } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret, hashSecret } from "../db/secret.ts";
import { createSignInTables } from "./tables.ts";

/** How long a person may take to unlock their device, in milliseconds. */
const LIFETIME = 5 * 60_000;
/** Strangers can have challenges made: the oldest go first. */
const MOST = 10_000;

/** What a signature is for. One that was made for one thing holds for no other. */
export type PasskeyPurpose = "sign-in" | "second-step" | "proof" | "register";

export type PasskeyChallenges = ReturnType<typeof createPasskeyChallenges>;

/** The store of what browsers were told to have signed. `clock` gives milliseconds since 1970. */
export function createPasskeyChallenges({ db, clock }: { db: Database; clock: () => number }) {
  const { orm } = db;
  const { passkeyChallenges } = db.tables(createSignInTables);
  const nameOf = (browser: string, purpose: PasskeyPurpose) =>
    hashSecret(`challenge ${purpose} ${browser}`);

  return {
    /**
     * A challenge for a browser, instead of the one before it.
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

    /** The challenge that a browser was given, one time; null for none. */
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
