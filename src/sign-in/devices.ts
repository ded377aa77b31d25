import type { Accounts } from "../accounts/accounts.ts";
import type { Database } from "../db/database.ts";
import { createSecret, isSameSecret } from "../db/secret.ts";
import { readServerSecret } from "./server-secret.ts";

/** How long a browser is known after a sign-in, in milliseconds: the longest that browsers allow. */
export const DEVICE_LIFETIME = 400 * 24 * 3_600_000;

/** Accounts of one browser that are remembered, the last ones. */
const MAX_ENTRIES = 8;

/** One account's entry: a name of this browser, until when it holds (base 36), a seal. */
const ENTRY = /^[\w-]{43}\.[0-9a-z]{1,11}\.[\w-]{43}$/;

export type Devices = ReturnType<typeof createDevices>;

/**
 * Knows the browsers in which somebody has signed in to an account before, by a signed cookie
 * (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies). Nobody is
 * signed in by it: it keeps wrong tries of others from shutting that browser out. It says nothing
 * of the account, outlives the session, and ends with the account's password.
 */
export function createDevices({
  db,
  accounts,
  clock,
}: {
  db: Database;
  accounts: Pick<Accounts, "findByEmail" | "passwordMark">;
  clock: () => number;
}) {
  /** What seals an account's entries. */
  const sealerOf = async (accountId: string) => {
    const key = await readServerSecret(db, "device-cookies");
    const mark = await accounts.passwordMark(accountId);
    return (name: string, until: string): string => {
      const sealed = JSON.stringify([accountId, mark, name, until]);
      return new Bun.CryptoHasher("sha256", key).update(sealed).digest("base64url");
    };
  };

  const entriesOf = (cookie: string | null) =>
    (cookie ?? "")
      .split("~", MAX_ENTRIES)
      .filter((entry) => ENTRY.test(entry))
      .map((entry) => {
        const [name = "", until = "", sealed = ""] = entry.split(".");
        return { entry, name, until, sealed };
      });

  /** The entries that are this account's. */
  const entriesFor = async (accountId: string, cookie: string | null) => {
    const seal = await sealerOf(accountId);
    return entriesOf(cookie).filter(({ name, until, sealed }) =>
      isSameSecret(sealed, seal(name, until)),
    );
  };

  return {
    /**
     * The cookie of a browser in which somebody has just signed in to an account.
     * @param cookie that it has now; what it holds of other accounts stays
     */
    async remember(accountId: string, cookie: string | null): Promise<string> {
      const former = (await entriesFor(accountId, cookie)).map(({ entry }) => entry);
      const others = entriesOf(cookie)
        .map(({ entry }) => entry)
        .filter((entry) => !former.includes(entry));
      const seal = await sealerOf(accountId);
      const name = createSecret("");
      const until = (clock() + DEVICE_LIFETIME).toString(36);
      const own = `${name}.${until}.${seal(name, until)}`;
      return [own, ...others].slice(0, MAX_ENTRIES).join("~");
    },

    /**
     * The name of a browser in which somebody has signed in to the account with this address; null
     * for any other browser, and for an unknown account.
     * @param cookie of the browser
     * @param since milliseconds since 1970: a browser that was last signed in with before is another
     */
    async recognise(email: string, cookie: string | null, since = 0): Promise<string | null> {
      // For an unknown account as well, so that the time does not tell.
      const accountId = (await accounts.findByEmail(email))?.id ?? "";
      const known = (await entriesFor(accountId, cookie)).find((entry) => {
        const until = Number.parseInt(entry.until, 36);
        return until > clock() && until - DEVICE_LIFETIME >= since;
      });
      return accountId === "" ? null : (known?.name ?? null);
    },
  };
}
