import { eq } from "drizzle-orm";
import type { Account, NewAccount } from "../../accounts/account.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import { type Invitations, invitationGone } from "../../accounts/invitations.ts";
import type { Config } from "../../config/config.ts";
import type { Database } from "../../db/database.ts";
import type { Ephemeral } from "../../db/ephemeral.ts";
import { createSecret, hashSecret, isSameSecret } from "../../db/id.ts";
import { AppError } from "../../errors.ts";
import { siteOf } from "../../timing/rate-limit.ts";
import { type Hashing, noPasswords, tooMany } from "../sign-in.ts";
import { createSignInTables } from "../tables.ts";

type SetUpToken = ReturnType<typeof createSetUpToken>;

/**
 * Creates the secret that a person needs to become the owner. Not everyone who reaches the port runs
 * the server, not even on loopback. The secret is new at each start. The link that one of several servers prints
 * may lead to another, so they share the hashes: whoever reads the database gets no secret.
 */
export function createSetUpToken(db: Database, token = createSecret("")) {
  const { serverSecrets } = db.tables(createSignInTables);
  const isShared = db.dialect.name !== "sqlite";
  const nameOf = (secret: string) => `set-up ${hashSecret(secret)}`;

  return {
    /** The secret of this server. From now on, the others accept it. */
    async issue(): Promise<string> {
      const row = { name: nameOf(token), value: "" };
      if (isShared) await db.orm.insert(serverSecrets).values(row).onConflictDoNothing();
      return token;
    },

    /** Whether a secret is that of this server, or one that another server has issued. */
    async accepts(secret: string): Promise<boolean> {
      if (isSameSecret(secret, token)) return true;
      if (!isShared) return false;
      const isIt = eq(serverSecrets.name, nameOf(secret));
      const rows = await db.orm.select().from(serverSecrets).where(isIt);
      return rows.length > 0;
    },
  };
}

const HOUR = 3_600_000;

export type SignUp = ReturnType<typeof createSignUp>;

/** Creates accounts in the browser: the owner's, those of invited people, and anyone's if registration is open. */
export function createSignUp({
  accounts,
  invitations,
  registration,
  setUpToken,
  hashing,
  ephemeral,
  passwords = true,
}: {
  accounts: Pick<Accounts, "prepareMember" | "addMember" | "isSetUp" | "setUp">;
  invitations: Pick<Invitations, "find" | "use">;
  registration: Config["registration"];
  /** The secret of a person who runs this server. */
  setUpToken: Pick<SetUpToken, "accepts">;
  hashing: Hashing;
  ephemeral: Pick<Ephemeral, "limit">;
  /** Whether accounts have passwords; otherwise a provider is required. */
  passwords?: boolean;
}) {
  const byAddress = ephemeral.limit("sign-ups", { tries: 10, period: HOUR });
  const bySite = ephemeral.limit("sign-ups of a site", { tries: 60, period: HOUR });

  return {
    isSetUp: accounts.isSetUp,

    isOpen: registration === "open",

    /** Whether the owner's account can be created in a browser; otherwise the command line creates it. */
    allowsSetUp: registration !== "closed",

    /** Whether this token allows creating the owner's account. */
    mayClaim: (token: string | null): Promise<boolean> => setUpToken.accepts(token ?? ""),

    /** Creates the owner's account on an empty server. @throws AppError `forbidden`, or as `Accounts.setUp` */
    async setUp(wanted: NewAccount, token: string | null): Promise<Account> {
      if (!this.allowsSetUp || !(await this.mayClaim(token))) {
        throw new AppError(
          "forbidden",
          "Open the link that the server printed when it started, or run ctxd dashboard on its machine.",
        );
      }
      // Without passwords, the owner signs in through a provider that knows the address.
      const { email, password } = wanted;
      return hashing(() => accounts.setUp({ email, password: passwords ? password : null }));
    },

    findInvitation: invitations.find,

    /**
     * Creates an account and uses up its invitation. The invitation can still be revoked while the password is hashed.
     * @throws AppError `not_found` for an invalid invitation, `forbidden` where there are no passwords, or as
     *   `Accounts.prepareMember`
     */
    async accept(secret: string, wanted: NewAccount): Promise<Account> {
      if (!passwords) throw noPasswords();
      const invitation = await invitations.find(secret);
      // An invalid invitation needs no hash.
      if (invitation === null) throw invitationGone();
      const email = invitation.email ?? wanted.email;
      return invitations.use(
        secret,
        await hashing(() => accounts.prepareMember({ ...wanted, email })),
      );
    },

    /**
     * Creates an account for anyone. Without mail it can't be kept secret that an address is taken: tries are limited
     * instead.
     * @param address of the client
     * @throws AppError `forbidden` where registration is not open, `rate_limited`, or as `Accounts.addMember`
     */
    async signUp(wanted: NewAccount, address: string): Promise<Account> {
      if (registration !== "open" || !(await accounts.isSetUp())) {
        throw new AppError(
          "forbidden",
          "You need an invitation for an account here: ask the owner.",
        );
      }
      if (!passwords) throw noPasswords();
      const site = siteOf(address);
      const wait =
        (await byAddress.take(address)) ?? (site === null ? null : await bySite.take(site));
      if (wait !== null) throw tooMany(wait);
      return hashing(() => accounts.addMember(wanted));
    },
  };
}
