import type { Config } from "../config.ts";
import { describeBound } from "../keys/bound.ts";
import { type KeyRecord, keyFacts } from "../keys/keys.ts";
import { describeScopes, FULL_ACCESS, type Scope } from "../keys/scopes.ts";
import { CommandError } from "./failure.ts";
import { requireAccount, withStores } from "./stores.ts";
import { formatMoment, formatTable } from "./table.ts";
import { print, say } from "./terminal.ts";

/** What `ctxd key create` is given; without `scope`, the key may do everything. */
export interface NewKeyOptions {
  user: string;
  name: string;
  scope?: readonly ("read" | "add")[];
  expires?: Date;
  /** The project that it is bound to. */
  project?: string;
  /** Whether it does not even see the memories of no project. */
  projectOnly?: boolean;
}

/** `ctxd key create` */
export async function createKey(config: Config, options: NewKeyOptions): Promise<void> {
  await withStores(config, async ({ accounts, keys, record: tell }) => {
    const account = await requireAccount(accounts, options.user);
    const { key, record } = await keys.create(account.id, {
      name: options.name,
      scopes: options.scope?.map((word): Scope => `memories:${word}`) ?? FULL_ACCESS,
      expiresAt: options.expires ?? null,
      bound:
        options.project === undefined
          ? null
          : { project: options.project, only: options.projectOnly ?? false },
    });
    tell("key_created", keyFacts(record));
    try {
      await print(key);
    } catch {
      await keys.revoke(account.id, record.id);
      tell("key_revoked", keyFacts(record));
      throw new CommandError("The key could not be written to standard output, so it was revoked.");
    }
    say(`This is the only time the key is shown: keep it safe. Its id is ${record.id}.`);
  });
}

/** `ctxd key list` */
export async function listKeys(
  config: Config,
  options: { user?: string; json?: boolean },
): Promise<void> {
  const { user } = options;
  const { keys, emails } = await withStores(config, async (stores) => ({
    keys:
      user === undefined
        ? await stores.keys.listOfAllAccounts()
        : await stores.keys.list((await requireAccount(stores.accounts, user)).id),
    emails: new Map((await stores.accounts.list()).map(({ id, email }) => [id, email])),
  }));
  if (options.json) {
    const entries = keys.map((key) => ({ user: emails.get(key.accountId), ...toJson(key) }));
    return await print(JSON.stringify(entries, null, 2));
  }
  if (keys.length === 0) {
    return say("No keys yet: ctxd key create --user EMAIL --name NAME makes one.");
  }
  await print(
    formatTable(
      ["ID", "KEY", "NAME", "USER", "SCOPE", "PROJECT", "LAST USED", "STATE"],
      keys.map((key) => [
        key.id,
        `${key.prefix}…`,
        key.name,
        emails.get(key.accountId) ?? "-",
        describeScopes(key.scopes),
        describeBound(key.bound),
        formatMoment(key.lastUsedAt),
        describeState(key),
      ]),
    ),
  );
}

/** `ctxd key revoke ID` */
export async function revokeKey(config: Config, id: string): Promise<void> {
  await withStores(config, async ({ keys, record }) => {
    const known = (await keys.listOfAllAccounts()).find((key) => key.id === id);
    if (!known) throw new CommandError("No key has this id: ctxd key list shows all.");
    if (known.revokedAt) return say(`${id} (${known.name}) is revoked already.`);
    record("key_revoked", keyFacts(await keys.revokeOfAnyAccount(id)));
    say(`Revoked ${id} (${known.name}).`);
  });
}

function toJson(key: KeyRecord) {
  return {
    id: key.id,
    account_id: key.accountId,
    prefix: key.prefix,
    name: key.name,
    scopes: key.scopes,
    project: key.bound?.project ?? null,
    project_only: key.bound?.only ?? false,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
  };
}

function describeState({ revokedAt, expiresAt }: KeyRecord): string {
  if (revokedAt) return `revoked ${formatMoment(revokedAt)}`;
  if (!expiresAt) return "active";
  const verb = expiresAt.getTime() <= Date.now() ? "expired" : "expires";
  return `${verb} ${formatMoment(expiresAt)}`;
}
