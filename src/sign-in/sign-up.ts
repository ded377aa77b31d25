import type { Account, NewAccount } from "../accounts/account.ts";
import type { Accounts } from "../accounts/accounts.ts";
import { type Invitations, notHolding } from "../accounts/invitations.ts";
import type { Config } from "../config/config.ts";
import type { Ephemeral } from "../db/ephemeral.ts";
import { AppError } from "../errors.ts";
import { siteOf } from "../timing/rate-limit.ts";
import type { Hashing } from "./hashing.ts";
import type { SetUpToken } from "./set-up-token.ts";
import { noPasswords, tooMany } from "./sign-in.ts";

const HOUR = 3_600_000;

export type SignUp = ReturnType<typeof createSignUp>;

/**
 * Creates accounts in the browser: the owner's, those of invited people, and anyone's if registration
 * is open.
 */
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

    /** Whether registration is open. */
    isOpen: registration === "open",

    /**
     * Whether the owner's account can be created in a browser; otherwise the command line creates it.
     */
    allowsSetUp: registration !== "closed",

    /** Whether this token allows creating the owner's account. */
    mayClaim: (token: string | null): Promise<boolean> => setUpToken.accepts(token ?? ""),

    /**
     * Creates the owner's account on an empty server. @throws AppError `forbidden`, or as
     * `Accounts.setUp`
     */
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
     * Creates an account and uses up its invitation. The invitation can still be revoked while the
     * password is hashed.
     * @throws AppError `not_found` for an invalid invitation, `forbidden` where there are no passwords,
     *   or as `Accounts.prepareMember`
     */
    async accept(secret: string, wanted: NewAccount): Promise<Account> {
      if (!passwords) throw noPasswords();
      const invitation = await invitations.find(secret);
      // An invalid invitation needs no hash.
      if (invitation === null) throw notHolding();
      const email = invitation.email ?? wanted.email;
      return invitations.use(
        secret,
        await hashing(() => accounts.prepareMember({ ...wanted, email })),
      );
    },

    /**
     * Creates an account for anyone. Without mail it can't be kept secret that an address is taken:
     * tries are limited instead.
     * @param address of the client
     * @throws AppError `forbidden` where registration is not open, `rate_limited`, or as
     *   `Accounts.addMember`
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
