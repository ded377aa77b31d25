import { eq } from "drizzle-orm";
import type { Accounts } from "../../accounts/accounts.ts";
import type { Database, StoreParts } from "../../db/database.ts";
import { createSecret, isSameSecret } from "../../db/id.ts";
import { createSignInTables } from "../tables.ts";

/** Returns a secret of this server, which is created when first needed. @param name its purpose */
export async function readServerSecret({ orm, tables }: Database, name: string): Promise<string> {
  const { serverSecrets } = tables(createSignInTables);
  const find = async () => {
    const [row] = await orm.select().from(serverSecrets).where(eq(serverSecrets.name, name));
    return row?.value;
  };
  const known = await find();
  if (known !== undefined) return known;
  const value = createSecret("");
  await orm.insert(serverSecrets).values({ name, value }).onConflictDoNothing();
  // If two processes do this at once, only one of them creates it.
  return (await find()) ?? value;
}

/** Milliseconds for which a browser is remembered after a sign-in: the maximum that browsers allow. */
export const DEVICE_LIFETIME = 400 * 24 * 3_600_000;

/** Accounts that are remembered per browser, the most recent ones. */
const MAX_ENTRIES = 8;

/** The entry of an account: a name for this browser, its expiry (base 36), and a signature. */
const ENTRY = /^[\w-]{43}\.[0-9a-z]{1,11}\.[\w-]{43}$/;

export type Devices = ReturnType<typeof createDevices>;

/**
 * Remembers in which browsers people have signed in to an account, by a signed cookie
 * (https://owasp.org/www-community/Slow_Down_Online_Guessing_Attacks_with_Device_Cookies). The cookie
 * signs nobody in: it prevents wrong tries by others from locking that browser out. It reveals nothing
 * about the account, outlives the session, and ends with the account's password.
 */
export function createDevices({
  db,
  accounts,
  clock,
}: StoreParts & { accounts: Pick<Accounts, "findByEmail" | "passwordMark"> }) {
  /** Returns the function that signs an account's entries. */
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

  const entriesFor = async (accountId: string, cookie: string | null) => {
    const seal = await sealerOf(accountId);
    return entriesOf(cookie).filter(({ name, until, sealed }) =>
      isSameSecret(sealed, seal(name, until)),
    );
  };

  return {
    /**
     * The cookie of a browser in which somebody has just signed in to an account.
     * @param cookie the present cookie; its entries of other accounts stay
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
     * The name of a browser in which somebody has signed in to the account with this address; null for
     * other browsers and for an unknown account.
     * @param cookie of the browser
     * @param since milliseconds since 1970: earlier sign-ins do not count
     */
    async recognise(email: string, cookie: string | null, since = 0): Promise<string | null> {
      // The same work for an unknown account, so that the time reveals nothing.
      const accountId = (await accounts.findByEmail(email))?.id ?? "";
      const known = (await entriesFor(accountId, cookie)).find((entry) => {
        const until = Number.parseInt(entry.until, 36);
        return until > clock() && until - DEVICE_LIFETIME >= since;
      });
      return accountId === "" ? null : (known?.name ?? null);
    },
  };
}
