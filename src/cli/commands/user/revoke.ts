import type { Command } from "commander";
import { describeRevoked, revokeAccess } from "../../../access/revoke-access.ts";
import type { Config } from "../../../config/config.ts";
import { CommandError, USAGE } from "../../command-error.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { confirm, isInteractive, say } from "../../terminal.ts";

/** Adds `ctxd user revoke`. */
export function defineRevoke(user: Command, { configure }: Context): void {
  user
    .command("revoke")
    .argument("<email>", "e-mail address of the account")
    .summary("revoke all keys and apps of an account, and sign it out everywhere")
    .description(
      "Revokes all keys and apps of an account and ends its sessions at once. Its memories stay, and its user can sign in again.",
    )
    .option("-y, --yes", "do not ask for confirmation")
    .addHelpText("after", examples("ctxd user revoke you@example.com"))
    .action((email: string, options: { yes?: boolean }) => revokeUser(configure(), email, options));
}

/** `ctxd user revoke EMAIL` */
async function revokeUser(
  config: Config,
  email: string,
  options: { yes?: boolean },
): Promise<void> {
  await withStores(config, async (stores) => {
    const { id: accountId, ...account } = await requireAccount(stores.accounts, email);
    if (!options.yes) {
      if (!isInteractive()) {
        throw new CommandError("Without a terminal, revoking all access needs --yes.", USAGE);
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
