import type { Command } from "commander";
import { parseEmail } from "../../../accounts/account.ts";
import { checkPassword } from "../../../accounts/passwords.ts";
import type { Config } from "../../../config/config.ts";
import { AppError } from "../../../errors.ts";
import { describeCommand } from "../../../server/invocation.ts";
import { type Context, examples } from "../../context.ts";
import { changeQuota, type QuotaChange, quotaOptions } from "../../quota.ts";
import { requireAccount, withStores } from "../../stores.ts";
import {
  askHidden,
  CommandError,
  confirm,
  formatMoment,
  isInteractive,
  printJson,
  printTable,
  readLine,
  say,
  usageError,
} from "../../terminal.ts";
import { namesOfSpaces } from "../space/find.ts";

/** Adds a command that takes an account. */
export function onAccount(user: Command, name: string): Command {
  return user.command(name).argument("<email>", "e-mail address of the account");
}

/** Adds the commands that add, list, change and remove accounts. */
export function defineAccounts(
  user: Command,
  { configure, configureExisting, env }: Context,
): void {
  user
    .command("add")
    .argument("<email>", "e-mail address to sign in with")
    .summary("add an account")
    .description(
      "Adds an account. The first one owns the server. The password is asked for, or read as one line of standard input.",
    )
    .addHelpText("after", examples("ctxd user add you@example.com"))
    .action(async (email: string) => {
      const config = configure();
      const added = await addUser(config, email);
      const key = `key create --user ${added} --name NAME`;
      say(`Create a key for an agent: ${describeCommand(key, config, env)}`);
    });
  user
    .command("list")
    .description("list the accounts")
    .option("--json", "as JSON")
    .action((options: { json?: boolean }) => listUsers(configureExisting(), options));
  onAccount(user, "passwd")
    .summary("change an account's password")
    .description(
      "Changes an account's password. The new one is asked for, or read as one line of standard input.",
    )
    .addHelpText("after", examples("ctxd user passwd you@example.com"))
    .action((email: string) => changePassword(configureExisting(), email));
  quotaOptions(onAccount(user, "quota"))
    .summary("show or set how much an account may store")
    .description(
      "Shows how much an account may store, or sets it. Bytes are those of all text: contents, tags, names and metadata. A new limit applies to later writes; stored memories stay.",
    )
    .addHelpText("after", examples("ctxd user quota you@example.com --memories 10000"))
    .action((email: string, options: QuotaChange) =>
      withStores(configureExisting(), async (stores) => {
        const { id, email: name } = await requireAccount(stores.accounts, email);
        await changeQuota(stores, { id, name, facts: { accountId: id } }, options);
      }),
    );
  onAccount(user, "owner")
    .summary("make an account the owner of the server")
    .description(
      "Makes an account the owner of the server. The previous owner becomes a member. From then on local agents save to the new owner's account; earlier memories stay in the previous one.",
    )
    .addHelpText("after", examples("ctxd user owner ada@example.com"))
    .action((email: string) => changeOwner(configureExisting(), email));
  onAccount(user, "remove")
    .summary("remove an account, its keys and its memories")
    .description(
      "Removes an account permanently, with its keys and memories. The owner's account can only be the last: ctxd user owner makes another account the owner.",
    )
    .option("-y, --yes", "do not ask for confirmation")
    .addHelpText("after", examples("ctxd user remove you@example.com"))
    .action((email: string, options: { yes?: boolean }) =>
      removeUser(configureExisting(), email, options),
    );
}

/** `ctxd user add EMAIL`. @returns the address in its stored form */
async function addUser(config: Config, email: string): Promise<string> {
  return await withStores(config, async ({ accounts, record }) => {
    // Checked before the password is asked for.
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
    const memories = named ? "; the memories of local agents are in this account" : "";
    say(`Added ${account.email}${role}${memories}.`);
    return account.email;
  });
}

async function listUsers(config: Config, options: { json?: boolean }): Promise<void> {
  const accounts = await withStores(config, async ({ accounts, factors }) => {
    const listed = [];
    // One query after the other: a database can't answer any number of them at once in time.
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
    return await printJson(entries);
  }
  if (accounts.length === 0) return say("No accounts yet: ctxd user add EMAIL adds one.");
  await printTable(
    ["EMAIL", "ROLE", "SECOND FACTOR", "CREATED", "ID"],
    accounts.map(({ email, role, factors, createdAt, disabledAt, id }) => [
      email,
      disabledAt ? `${role}, disabled` : role,
      factors.join(", ") || "-",
      formatMoment(createdAt),
      id,
    ]),
  );
}

async function changePassword(config: Config, email: string): Promise<void> {
  await withStores(config, async ({ accounts, record }) => {
    const account = await requireAccount(accounts, email);
    await accounts.setPassword(account.id, await readNewPassword(email));
    record("password_changed", { accountId: account.id });
    say(`Changed the password of ${account.email}.`);
  });
}

/** Asks twice for a new password, or reads it as one line of standard input. */
async function readNewPassword(email: string): Promise<string> {
  if (!isInteractive()) return await readLine();
  const password = await askHidden("Password (at least 8 characters): ");
  checkPassword(password, email);
  if ((await askHidden("Repeat it: ")) === password) return password;
  throw new CommandError("The two passwords differ; nothing was changed.");
}

async function changeOwner(config: Config, email: string): Promise<void> {
  await withStores(config, async ({ accounts, record }) => {
    const account = await requireAccount(accounts, email);
    if (account.role === "owner") return say(`${account.email} already owns this server.`);
    const former = await accounts.handOver(account.id);
    record("owner_changed", { accountId: account.id });
    const member = former === null ? "" : `, and ${former.email} is a member`;
    const past =
      former === null ? "" : ` Their earlier memories stay in the account of ${former.email}.`;
    say(
      `${account.email} owns this server now${member}. From now on local agents (ctxd mcp) use this account.${past}`,
    );
  });
}

async function removeUser(config: Config, email: string, options: { yes?: boolean }) {
  await withStores(config, async (stores) => {
    const { accounts, keys, record } = stores;
    const account = await requireAccount(accounts, email);
    const going = await accounts.checkRemovable(account.id);
    const names = going.length === 0 ? new Map() : await namesOfSpaces(stores);
    const spaces = going.map((id) => names.get(id) ?? id).join(", ");
    const withSpaces = spaces && ` Spaces without another member go too: ${spaces}.`;
    if (!options.yes) {
      if (!isInteractive()) {
        throw usageError("Without a terminal, removing an account needs --yes.");
      }
      const count = (await keys.list(account.id)).length;
      say(
        `This removes ${account.email}, its API keys (${count}) and all its memories, permanently.${withSpaces}`,
      );
      if (!(await confirm(`Remove ${account.email}?`)))
        throw new CommandError("Nothing was removed.");
    }
    await accounts.remove(account.id);
    record("account_removed", { accountId: account.id });
    say(`Removed ${account.email}.${withSpaces && ` Spaces removed with it: ${spaces}.`}`);
  });
}
