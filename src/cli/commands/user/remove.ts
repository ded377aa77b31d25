import type { Command } from "commander";
import type { Config } from "../../../config.ts";
import { CommandError, USAGE } from "../../command-error.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { confirm, isInteractive, say } from "../../terminal.ts";

/** Adds `ctxd user remove`. */
export function define(user: Command, { configure }: Context): void {
  user
    .command("remove")
    .argument("<email>", "e-mail address of the account")
    .summary("remove an account, its keys and its memories")
    .description(
      "Removes an account with its keys and memories, for good. The owner's goes last: ctxd user owner hands the server over.",
    )
    .option("-y, --yes", "do not ask whether this is meant")
    .addHelpText("after", examples("ctxd user remove you@example.com"))
    .action((email: string, options: { yes?: boolean }) => removeUser(configure(), email, options));
}

/** `ctxd user remove EMAIL` */
async function removeUser(
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
