import { type Command, Option } from "commander";
import type { Config } from "../../config/config.ts";
import { type KeyRecord, keyFacts } from "../../keys/keys.ts";
import { describeBound } from "../../keys/reach.ts";
import { describeScopes, FULL_ACCESS, type Scope } from "../../keys/scopes.ts";
import { Project } from "../../memories/model/memory.ts";
import { type Context, examples } from "../context.ts";
import { checkProjectOnly, nameParser, parseExpiry } from "../options.ts";
import { requireAccount, withStores } from "../stores.ts";
import { CommandError, formatMoment, print, printJson, printTable, say } from "../terminal.ts";
import { namesOfSpaces, requireSpaceOf, spaceColumn } from "./space/find.ts";

/** Options of `ctxd key create`. Without `scope` the key may do everything. */
interface NewKeyOptions {
  user: string;
  name: string;
  scope?: readonly ("read" | "add")[];
  expires?: Date;
  project?: string;
  /** Whether the memories of no project are hidden from the key too. */
  projectOnly?: boolean;
  space?: string;
}

export function define(program: Command, { configureExisting }: Context): void {
  const key = program
    .command("key")
    .summary("manage the API keys: create, list, revoke")
    .description("Manages the API keys, by which agents and programs reach an account's memories.");
  key
    .command("create")
    .summary("create an API key")
    .description("Creates an API key and prints it to standard output. The key is shown only once.")
    .requiredOption("--user <email>", "the key's account")
    .requiredOption("--name <name>", "the key's name, such as that of its agent")
    .addOption(
      new Option(
        "--scope <scope...>",
        "read: the key can only read; add: the key can only save new memories; or both",
      ).choices(["read", "add"]),
    )
    .option(
      "--project <name>",
      "restrict the key to a project: it saves there, and sees that project and memories of no project",
      nameParser(Project),
    )
    .option("--project-only", "with --project: hide the memories of no project too")
    .option("--space <name>", "restrict the key to a space of the account, by its name or id")
    .option("--expires <when>", "12h, 90d, 2w, 1y, or a date: 2027-01-31", parseExpiry)
    .addHelpText(
      "after",
      examples(
        "ctxd key create --user you@example.com --name laptop",
        "ctxd key create --user you@example.com --name report --scope read --expires 90d",
        "ctxd key create --user you@example.com --name sensor --scope add",
        "ctxd key create --user you@example.com --name ci --project acme/shop --project-only",
        "ctxd key create --user you@example.com --name team --space acme",
      ),
    )
    .action(async (options: NewKeyOptions, command: Command) => {
      checkProjectOnly(options, command);
      await createKey(configureExisting(), options);
    });
  key
    .command("list")
    .description("list the API keys, including revoked and expired ones")
    .option("--user <email>", "only the keys of this account")
    .option("--json", "as JSON")
    .action((options: { user?: string; json?: boolean }) => listKeys(configureExisting(), options));
  key
    .command("revoke")
    .argument("<id>", "the key's id, as ctxd key list shows it")
    .summary("revoke an API key")
    .description("Revokes an API key permanently. Its next request is refused.")
    .action((id: string) => revokeKey(configureExisting(), id));
}

async function createKey(config: Config, options: NewKeyOptions): Promise<void> {
  await withStores(config, async (stores) => {
    const { accounts, keys, record: recordEvent } = stores;
    const account = await requireAccount(accounts, options.user);
    const space =
      options.space === undefined ? null : await requireSpaceOf(stores, account, options.space);
    const { key, record } = await keys.create(account.id, {
      name: options.name,
      scopes: options.scope?.map((word): Scope => `memories:${word}`) ?? FULL_ACCESS,
      expiresAt: options.expires ?? null,
      bound:
        options.project === undefined
          ? null
          : { project: options.project, only: options.projectOnly ?? false },
      spaceId: space?.id ?? null,
    });
    recordEvent("key_created", keyFacts(record));
    try {
      await print(key);
    } catch {
      await keys.revoke(account.id, record.id);
      recordEvent("key_revoked", keyFacts(record));
      throw new CommandError("The key could not be written to standard output, so it was revoked.");
    }
    say(`The key is shown only this once: keep it safe. Its id is ${record.id}.`);
  });
}

async function listKeys(config: Config, options: { user?: string; json?: boolean }): Promise<void> {
  const { user } = options;
  const { keys, emails, names } = await withStores(config, async (stores) => ({
    keys:
      user === undefined
        ? await stores.keys.listOfAllAccounts()
        : await stores.keys.list((await requireAccount(stores.accounts, user)).id),
    emails: new Map((await stores.accounts.list()).map(({ id, email }) => [id, email])),
    names: await namesOfSpaces(stores),
  }));
  if (options.json) {
    const entries = keys.map((key) => ({ user: emails.get(key.accountId), ...toJson(key, names) }));
    return await printJson(entries);
  }
  if (keys.length === 0) {
    return say("No keys yet: ctxd key create --user EMAIL --name NAME creates one.");
  }
  const space = spaceColumn(keys, names);
  await printTable(
    ["ID", "KEY", "NAME", "USER", "SCOPE", "PROJECT", ...space.heading, "LAST USED", "STATE"],
    keys.map((key) => [
      key.id,
      `${key.prefix}…`,
      key.name,
      emails.get(key.accountId) ?? "-",
      describeScopes(key.scopes),
      describeBound(key.bound),
      ...space.cellOf(key),
      formatMoment(key.lastUsedAt),
      describeState(key),
    ]),
  );
}

async function revokeKey(config: Config, id: string): Promise<void> {
  await withStores(config, async ({ keys, record }) => {
    const known = (await keys.listOfAllAccounts()).find((key) => key.id === id);
    if (!known) throw new CommandError("No key has this id: ctxd key list shows all.");
    if (known.revokedAt) return say(`${id} (${known.name}) is revoked already.`);
    record("key_revoked", keyFacts(await keys.revokeOfAnyAccount(id)));
    say(`Revoked ${id} (${known.name}).`);
  });
}

function toJson(key: KeyRecord, spaces: ReadonlyMap<string, string>) {
  return {
    id: key.id,
    account_id: key.accountId,
    prefix: key.prefix,
    name: key.name,
    scopes: key.scopes,
    project: key.bound?.project ?? null,
    project_only: key.bound?.only ?? false,
    space: spaces.get(key.spaceId ?? "") ?? null,
    space_id: key.spaceId,
    created_at: key.createdAt,
    last_used_at: key.lastUsedAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    paused_at: key.pausedAt,
  };
}

function describeState({ revokedAt, pausedAt, expiresAt }: KeyRecord): string {
  if (revokedAt) return `revoked ${formatMoment(revokedAt)}`;
  if (pausedAt) return `paused ${formatMoment(pausedAt)}`;
  if (!expiresAt) return "active";
  const verb = expiresAt.getTime() <= Date.now() ? "expired" : "expires";
  return `${verb} ${formatMoment(expiresAt)}`;
}
