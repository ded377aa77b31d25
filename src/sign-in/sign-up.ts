import type { Account, NewAccount } from "../accounts/account.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { type Invitations, notHolding } from "../accounts/invitations.ts";
import type { Config } from "../config.ts";
import type { Ephemeral } from "../db/ephemeral.ts";
import { isSameSecret } from "../db/secret.ts";
import { AppError } from "../errors.ts";
import { siteOf } from "../rate-limit.ts";
import type { Hashing } from "./hashing.ts";
import { noPasswords, tooMany } from "./sign-in.ts";

const HOUR = 3_600_000;

export type SignUp = ReturnType<typeof createSignUp>;

/** Makes accounts for people at a browser: the owner's, invited ones, and anybody's where that is allowed. */
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
  /** What proves that somebody runs this server. */
  setUpToken: () => Promise<string>;
  hashing: Hashing;
  ephemeral: Pick<Ephemeral, "limit">;
  /** Whether people have passwords; else they come through a provider. */
  passwords?: boolean;
}) {
  const byAddress = ephemeral.limit("sign-ups", { tries: 10, period: HOUR });
  const bySite = ephemeral.limit("sign-ups of a site", { tries: 60, period: HOUR });

  return {
    isSetUp: accounts.isSetUp,

    /** Whether anyone may make an account. */
    isOpen: registration === "open",

    /** Whether the owner's account may be made in a browser; else the command line makes it. */
    allowsSetUp: registration !== "closed",

    /** Whether somebody who has this token may make the owner's account. */
    mayClaim: async (token: string | null): Promise<boolean> =>
      isSameSecret(token ?? "", await setUpToken()),

    /**
     * Makes the owner's account on an empty server.
     * @throws AppError `forbidden`, or as `Accounts.setUp`
     */
    async setUp(wanted: NewAccount, token: string | null): Promise<Account> {
      if (!this.allowsSetUp || !(await this.mayClaim(token))) {
        throw new AppError(
          "forbidden",
          "Open the link that the server has printed at its start, or that ctxd dashboard opens.",
        );
      }
      // Where there are no passwords, the owner signs in through a provider that knows the address.
      const { email, password } = wanted;
      return hashing(() => accounts.setUp({ email, password: passwords ? password : null }));
    },

    findInvitation: invitations.find,

    /**
     * Makes an account by invitation, which is used up by that. Nothing is held while the password
     * is hashed: an invitation that is revoked meanwhile is revoked.
     * @throws AppError `not_found` when the invitation does not hold, `forbidden` where there are no
     * passwords, or as `Accounts.prepareMember`
     */
    async accept(secret: string, wanted: NewAccount): Promise<Account> {
      if (!passwords) throw noPasswords();
      const invitation = await invitations.find(secret);
      // One that does not hold costs no hash.
      if (invitation === null) throw notHolding();
      const email = invitation.email ?? wanted.email;
      return invitations.use(
        secret,
        await hashing(() => accounts.prepareMember({ ...wanted, email })),
      );
    },

    /**
     * Makes an account for anyone. That an address is taken can't be kept secret here, since no mail
     * is sent: tries are limited instead.
     * @param address where the request comes from
     * @throws AppError `forbidden` where that is not allowed, `rate_limited`, or as `Accounts.addMember`
     */
    async signUp(wanted: NewAccount, address: string): Promise<Account> {
      if (registration !== "open" || !(await accounts.isSetUp())) {
        throw new AppError("forbidden", "An account is made by invitation here: ask the owner.");
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
