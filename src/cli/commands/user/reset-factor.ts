import type { Command } from "commander";
import type { Config } from "../../../config/config.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { say } from "../../terminal.ts";

/** Adds `ctxd user reset-factor`. */
export function defineResetFactor(user: Command, { configure }: Context): void {
  user
    .command("reset-factor")
    .argument("<email>", "e-mail address of the account")
    .summary("remove a lost second factor")
    .description(
      "Removes all passkeys, the authenticator app and the recovery codes of an account whose user has lost them, and ends its sessions. The password alone signs in again.",
    )
    .addHelpText("after", examples("ctxd user reset-factor you@example.com"))
    .action((email: string) => resetFactor(configure(), email));
}

/** `ctxd user reset-factor EMAIL` */
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
