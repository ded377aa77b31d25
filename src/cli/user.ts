import { parseEmail } from "../accounts/email.ts";
import { checkPassword } from "../accounts/new-password.ts";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { CommandError, USAGE } from "./failure.ts";
import { requireAccount, withStores } from "./stores.ts";
import { formatMoment, formatTable } from "./table.ts";
import { askHidden, confirm, isInteractive, print, readLine, say } from "./terminal.ts";

/** `ctxd user add EMAIL`. Returns the address as it is kept. */
export async function addUser(config: Config, email: string): Promise<string> {
  return await withStores(config, async ({ accounts, record }) => {
    // Before a password is asked for in vain.
    if (await accounts.findByEmail(parseEmail(email))) {
      throw new AppError("conflict", "An account with this e-mail address exists already.");
    }
    const password = config.passwords ? await readNewPassword(email) : null;
    const wanted = { email, password };
    const named = await accounts.nameLocalOwner(wanted);
    const account = named ?? (await accounts.add(wanted));
    const isSetUp = account.role === "owner";
    record(isSetUp ? "owner_set_up" : "account_created", { accountId: account.id });
    const role = account.role === "owner" ? " as the owner of this server" : "";
    const memories = named ? "; what local agents saved is in this account" : "";
    say(`Added ${account.email}${role}${memories}.`);
    return account.email;
  });
}

/** `ctxd user list` */
export async function listUsers(config: Config, options: { json?: boolean }): Promise<void> {
  const accounts = await withStores(config, async ({ accounts, factors }) => {
    const listed = [];
    // One after the other: there may be more than a database answers in time at once.
    for (const account of await accounts.list()) {
      listed.push({ ...account, factors: await factors.kinds(account.id) });
    }
    return listed;
  });
  if (options.json) {
    const entries = accounts.map(({ createdAt, disabledAt, factors, ...rest }) => ({
      ...rest,
      second_factors: factors,
      created_at: createdAt,
      disabled_at: disabledAt,
    }));
    return await print(JSON.stringify(entries, null, 2));
  }
  if (accounts.length === 0) return say("No accounts yet: ctxd user add EMAIL adds one.");
  await print(
    formatTable(
      ["EMAIL", "ROLE", "SECOND FACTOR", "CREATED", "ID"],
      accounts.map(({ email, role, factors, createdAt, disabledAt, id }) => [
        email,
        disabledAt ? `${role}, disabled` : role,
        factors.join(", ") || "-",
        formatMoment(createdAt),
        id,
      ]),
    ),
  );
}

/** `ctxd user passwd EMAIL` */
export async function changePassword(config: Config, email: string): Promise<void> {
  await withStores(config, async ({ accounts, record }) => {
    const account = await requireAccount(accounts, email);
    await accounts.setPassword(account.id, await readNewPassword(email));
    record("password_changed", { accountId: account.id });
    say(`Changed the password of ${account.email}.`);
  });
}

/** What to change of a quota; what is left out stays. */
export interface QuotaChange {
  memories?: number | "none";
  bytes?: number | "none";
}

/** `ctxd user quota EMAIL` */
export async function changeQuota(
  config: Config,
  email: string,
  change: QuotaChange,
): Promise<void> {
  await withStores(config, async ({ accounts, quotas, record }) => {
    const account = await requireAccount(accounts, email);
    const present = await quotas.of(account.id);
    const next = (wanted: number | "none" | undefined, now: number | null = null) =>
      wanted === "none" ? null : (wanted ?? now);
    const memories = next(change.memories, present?.memories);
    const bytes = next(change.bytes, present?.bytes);
    if (Object.keys(change).length > 0) {
      await quotas.set(account.id, { memories, bytes });
      record("quota_changed", { accountId: account.id });
    }
    const describe = (most: number | null, noun: string) => `${most ?? "any number of"} ${noun}`;
    say(
      `${account.email} may keep ${describe(memories, memories === 1 ? "memory" : "memories")} and ${describe(bytes, "bytes of text")}.`,
    );
  });
}

/** `ctxd user owner EMAIL` */
export async function changeOwner(config: Config, email: string): Promise<void> {
  await withStores(config, async ({ accounts, record }) => {
    const account = await requireAccount(accounts, email);
    if (account.role === "owner") return say(`${account.email} owns this server already.`);
    const former = await accounts.handOver(account.id);
    record("owner_changed", { accountId: account.id });
    const member = former === null ? "" : `, and ${former.email} is a member`;
    const past = former === null ? "" : ` What they saved before stays in that of ${former.email}.`;
    say(
      `${account.email} owns this server now${member}. Local agents (ctxd mcp) save to this account from now on, and find what is in it.${past}`,
    );
  });
}

/** `ctxd user remove EMAIL` */
export async function removeUser(
  config: Config,
  email: string,
  options: { yes?: boolean },
): Promise<void> {
  await withStores(config, async ({ accounts, keys, record }) => {
    const account = await requireAccount(accounts, email);
    await accounts.checkRemovable(account.id);
    if (!options.yes) {
      if (!isInteractive()) {
        throw new CommandError("Removing an account needs --yes when nobody can be asked.", USAGE);
      }
      const count = (await keys.list(account.id)).length;
      say(`This removes ${account.email}, its API keys (${count}) and all its memories, for good.`);
      if (!(await confirm(`Remove ${account.email}?`)))
        throw new CommandError("Nothing was removed.");
    }
    await accounts.remove(account.id);
    record("account_removed", { accountId: account.id });
    say(`Removed ${account.email}.`);
  });
}

async function readNewPassword(email: string): Promise<string> {
  if (!isInteractive()) return await readLine();
  const password = await askHidden("Password (at least 8 characters): ");
  checkPassword(password, email);
  if ((await askHidden("The same again: ")) === password) return password;
  throw new CommandError("The two passwords differ; nothing was changed.");
}
