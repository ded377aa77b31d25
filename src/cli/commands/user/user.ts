import type { Command } from "commander";
import { describeRevoked, revokeAccess } from "../../../access/revoke-access.ts";
import type { Config } from "../../../config/config.ts";
import { type Context, examples } from "../../context.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { CommandError, confirm, isInteractive, say, usageError } from "../../terminal.ts";
import { defineAccounts, onAccount } from "./accounts.ts";

/** Adds `ctxd user` and the commands below it, in the order of the help. */
export function define(program: Command, context: Context): void {
  const user = program
    .command("user")
    .summary(
      "manage the accounts: add, list, passwd, reset-factor, quota, owner, disable, enable, revoke, remove",
    )
    .description(
      "Manages the accounts. Each has its own memories. The first account owns the server.",
    );
  defineAccounts(user, context);
  defineAccess(user, context);
}

/** Adds the commands that change who can sign in, and that end access. */
function defineAccess(user: Command, { configureExisting }: Context): void {
  onAccount(user, "disable")
    .summary("disable an account until it is enabled again")
    .description(
      "Disables an account: nobody can sign in, its keys stop working, and its sessions and apps end at once. Its memories stay. The owner's account can't be disabled.",
    )
    .addHelpText("after", examples("ctxd user disable bob@example.com"))
    .action((email: string) => setDisabled(configureExisting(), email, true));
  onAccount(user, "enable")
    .summary("enable a disabled account")
    .description("Enables a disabled account. Its keys work again.")
    .action((email: string) => setDisabled(configureExisting(), email, false));
  onAccount(user, "reset-factor")
    .summary("remove a lost second factor")
    .description(
      "Removes all passkeys, the authenticator app and the recovery codes of an account whose user has lost them, and ends its sessions. The password alone signs in again.",
    )
    .addHelpText("after", examples("ctxd user reset-factor you@example.com"))
    .action((email: string) => resetFactor(configureExisting(), email));
  onAccount(user, "revoke")
    .summary("revoke all keys and apps of an account, and sign it out everywhere")
    .description(
      "Revokes all keys and apps of an account and ends its sessions at once. Its memories stay, and its user can sign in again.",
    )
    .option("-y, --yes", "do not ask for confirmation")
    .addHelpText("after", examples("ctxd user revoke you@example.com"))
    .action((email: string, options: { yes?: boolean }) =>
      revokeUser(configureExisting(), email, options),
    );
}

/** `ctxd user disable EMAIL` and `ctxd user enable EMAIL` */
async function setDisabled(config: Config, email: string, isDisabled: boolean): Promise<void> {
  await withStores(config, async ({ accounts, record }) => {
    const account = await requireAccount(accounts, email);
    const { id: accountId, disabledAt } = account;
    if ((disabledAt !== null) === isDisabled) {
      return say(`${account.email} is already ${isDisabled ? "disabled" : "enabled"}.`);
    }
    if (isDisabled) await accounts.disable(accountId);
    else await accounts.enable(accountId);
    record(isDisabled ? "account_disabled" : "account_enabled", { accountId });
    say(
      isDisabled
        ? `Disabled ${account.email}: nobody can use the account until ctxd user enable ${account.email}.`
        : `Enabled ${account.email}.`,
    );
  });
}

async function resetFactor(config: Config, email: string): Promise<void> {
  await withStores(config, async ({ accounts, factors, pendingSignIns, sessions, record }) => {
    const account = await requireAccount(accounts, email);
    const { id: accountId } = account;
    if (!(await factors.isSetUp(accountId))) {
      return say(`${account.email} has no passkey and no authenticator app.`);
    }
    await factors.reset(accountId);
    await pendingSignIns.endAll(accountId);
    await sessions.revokeAll(accountId);
    record("second_step_disabled", { accountId });
    const next = (await accounts.hasPassword(accountId))
      ? "the password alone signs in again"
      : `there is no password: ctxd user passwd ${account.email} sets one`;
    say(`Removed passkeys, app and recovery codes of ${account.email}: ${next}.`);
  });
}

async function revokeUser(config: Config, email: string, options: { yes?: boolean }) {
  await withStores(config, async (stores) => {
    const { id: accountId, ...account } = await requireAccount(stores.accounts, email);
    if (!options.yes) {
      if (!isInteractive()) {
        throw usageError("Without a terminal, revoking all access needs --yes.");
      }
      const question = `Revoke all keys and apps of ${account.email}, and sign out everywhere?`;
      if (!(await confirm(question))) throw new CommandError("Nothing was revoked.");
    }
    const revoked = await revokeAccess(accountId, stores);
    const amount = revoked.keys + revoked.apps + revoked.sessions;
    stores.record("access_revoked", { accountId, amount });
    say(`${account.email}: ${describeRevoked(revoked)}.`);
  });
}
