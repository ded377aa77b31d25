import { type Command, InvalidArgumentError, Option } from "commander";
import { Project } from "../memories/memory.ts";
import { describeCommand } from "../server/invocation.ts";
import { examples } from "./examples.ts";
import { parseExpiry } from "./expiry.ts";
import type { Environment } from "./failure.ts";
import type { NewKeyOptions } from "./key.ts";
import { checkProjectOnly, nameParser } from "./name-options.ts";
import type { Configure } from "./program.ts";
import { say } from "./terminal.ts";
import type { QuotaChange } from "./user.ts";

export function addUserCommands(program: Command, configure: Configure, env: Environment): void {
  const user = program
    .command("user")
    .summary(
      "manage the accounts: add, list, passwd, reset-factor, quota, owner, disable, enable, revoke, remove",
    )
    .description(
      "Manages the accounts. The first one owns the server; each has memories of its own.",
    );
  user
    .command("add")
    .argument("<email>", "e-mail address to sign in with")
    .summary("add an account")
    .description(
      "Adds an account; the first one owns the server. The password is asked for, or read as one line of standard input.",
    )
    .addHelpText("after", examples("ctxd user add you@example.com"))
    .action(async (email: string) => {
      const config = configure();
      const { addUser } = await import("./user.ts");
      const added = await addUser(config, email);
      const key = `key create --user ${added} --name NAME`;
      say(`Make a key for an agent: ${describeCommand(key, config, env)}`);
    });
  user
    .command("list")
    .description("list the accounts")
    .option("--json", "as JSON")
    .action(async (options: { json?: boolean }) =>
      (await import("./user.ts")).listUsers(configure(), options),
    );
  user
    .command("passwd")
    .argument("<email>", "e-mail address of the account")
    .summary("change an account's password")
    .description(
      "Changes an account's password. The new one is asked for, or read as one line of standard input.",
    )
    .addHelpText("after", examples("ctxd user passwd you@example.com"))
    .action(async (email: string) =>
      (await import("./user.ts")).changePassword(configure(), email),
    );
  user
    .command("quota")
    .argument("<email>", "e-mail address of the account")
    .summary("show or set how much an account may keep")
    .description(
      "Shows how much an account may keep, or sets it from its next write on. Bytes are those of all text: contents, tags, names and metadata. What is there already stays.",
    )
    .option("--memories <number>", "how many memories at the most, or none for any", parseMost)
    .option("--bytes <number>", "how many bytes at the most (500k, 20M, 1G), or none", parseMost)
    .addHelpText("after", examples("ctxd user quota you@example.com --memories 10000"))
    .action(async (email: string, options: QuotaChange) =>
      (await import("./user.ts")).changeQuota(configure(), email, options),
    );
  user
    .command("owner")
    .argument("<email>", "e-mail address of the account")
    .summary("make an account the owner of the server")
    .description(
      "Makes an account the owner of the server; who was it becomes a member. Local agents save to the new owner's account from then on; what they saved before stays where it is.",
    )
    .addHelpText("after", examples("ctxd user owner ada@example.com"))
    .action(async (email: string) => (await import("./user.ts")).changeOwner(configure(), email));
  user
    .command("remove")
    .argument("<email>", "e-mail address of the account")
    .summary("remove an account, its keys and its memories")
    .description(
      "Removes an account with its keys and memories, for good. The owner's goes last: ctxd user owner hands the server over.",
    )
    .option("-y, --yes", "do not ask whether this is meant")
    .addHelpText("after", examples("ctxd user remove you@example.com"))
    .action(async (email: string, options: { yes?: boolean }) =>
      (await import("./user.ts")).removeUser(configure(), email, options),
    );
  addUserAccessCommands(user, configure);
}

function addUserAccessCommands(user: Command, configure: Configure): void {
  user
    .command("disable")
    .argument("<email>", "e-mail address of the account")
    .summary("shut an account until it is enabled")
    .description(
      "Shuts an account: nobody can sign in to it, its keys rest, its sessions and apps end at once. Its memories stay. The owner's account can't be disabled.",
    )
    .addHelpText("after", examples("ctxd user disable bob@example.com"))
    .action(async (email: string) =>
      (await import("./user-access.ts")).setDisabled(configure(), email, true),
    );
  user
    .command("enable")
    .argument("<email>", "e-mail address of the account")
    .summary("open a disabled account again")
    .description("Opens a disabled account again. Its keys work as before.")
    .action(async (email: string) =>
      (await import("./user-access.ts")).setDisabled(configure(), email, false),
    );
  user
    .command("reset-factor")
    .argument("<email>", "e-mail address of the account")
    .summary("remove a lost second factor")
    .description(
      "Removes all passkeys, the app for codes and the recovery codes of an account whose person has lost them, and ends its sessions. The password alone signs in again.",
    )
    .addHelpText("after", examples("ctxd user reset-factor you@example.com"))
    .action(async (email: string) =>
      (await import("./user-access.ts")).resetFactor(configure(), email),
    );
  user
    .command("revoke")
    .argument("<email>", "e-mail address of the account")
    .summary("revoke all keys and apps of an account, and sign it out everywhere")
    .description(
      "Revokes all keys and apps of an account and ends its sessions, at once. Its memories stay, and its person can sign in again.",
    )
    .option("-y, --yes", "do not ask whether this is meant")
    .addHelpText("after", examples("ctxd user revoke you@example.com"))
    .action(async (email: string, options: { yes?: boolean }) =>
      (await import("./user-access.ts")).revokeUser(configure(), email, options),
    );
}

const MULTIPLES = new Map([
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
]);

/** A limit of a quota. */
function parseMost(text: string): number | "none" {
  if (text === "none") return text;
  const [, count, multiple = ""] = /^(\d{1,12})([kMG]?)$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * (MULTIPLES.get(multiple) ?? 1);
  throw new InvalidArgumentError("Use a whole number, such as 10000 or 20M, or none.");
}

export function addKeyCommands(program: Command, configure: Configure): void {
  const key = program
    .command("key")
    .summary("manage the API keys: create, list, revoke")
    .description(
      "Manages the API keys, with which agents and programs reach an account's memories.",
    );
  key
    .command("create")
    .summary("make an API key")
    .description("Makes an API key and prints it, nothing else, on standard output: once.")
    .requiredOption("--user <email>", "account that the key is for")
    .requiredOption("--name <name>", "what the key is for, such as the agent's name")
    .addOption(
      new Option(
        "--scope <scope...>",
        "read: it can't change anything; add: it can only save new memories; or both",
      ).choices(["read", "add"]),
    )
    .option(
      "--project <name>",
      "bind it: what it saves belongs to the project, it sees that and the memories of none",
      nameParser(Project),
    )
    .option("--project-only", "with --project: not even the memories of none are seen")
    .option("--expires <when>", "12h, 90d, 2w, 1y, or a date: 2027-01-31", parseExpiry)
    .addHelpText(
      "after",
      examples(
        "ctxd key create --user you@example.com --name laptop",
        "ctxd key create --user you@example.com --name report --scope read --expires 90d",
        "ctxd key create --user you@example.com --name sensor --scope add",
        "ctxd key create --user you@example.com --name ci --project acme/shop --project-only",
      ),
    )
    .action(async (options: NewKeyOptions, command: Command) => {
      checkProjectOnly(options, command);
      await (await import("./key.ts")).createKey(configure(), options);
    });
  key
    .command("list")
    .description("list the API keys, revoked and expired ones too")
    .option("--user <email>", "only the keys of this account")
    .option("--json", "as JSON")
    .action(async (options: { user?: string; json?: boolean }) =>
      (await import("./key.ts")).listKeys(configure(), options),
    );
  key
    .command("revoke")
    .argument("<id>", "the key's id, as ctxd key list shows it")
    .summary("revoke an API key")
    .description("Revokes an API key for good: it is refused from its next request on.")
    .action(async (id: string) => (await import("./key.ts")).revokeKey(configure(), id));
}

export function addGrantCommands(program: Command, configure: Configure): void {
  const grant = program
    .command("grant")
    .summary("manage what apps have been allowed by sign-in: list, revoke")
    .description(
      "Manages what apps have been allowed: those that have their person sign in, without a key.",
    );
  grant
    .command("list")
    .description("list the grants, revoked ones of the last 30 days too")
    .option("--user <email>", "only the grants of this account")
    .option("--json", "as JSON")
    .action(async (options: { user?: string; json?: boolean }) =>
      (await import("./grant.ts")).listGrants(configure(), options),
    );
  grant
    .command("revoke")
    .argument("<id>", "the grant's id, as ctxd grant list shows it")
    .summary("revoke a grant")
    .description("Revokes a grant for good: its tokens are refused from their next request on.")
    .option("--json", "print the grant as JSON")
    .action(async (id: string, options: { json?: boolean }) =>
      (await import("./grant.ts")).revokeGrant(configure(), id, options),
    );
}
