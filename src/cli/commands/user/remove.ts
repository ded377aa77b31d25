import type { Command } from "commander";
import type { Config } from "../../../config/config.ts";
import { CommandError, USAGE } from "../../command-error.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { confirm, isInteractive, say } from "../../terminal.ts";

/** Adds `ctxd user remove`. */
export function defineRemove(user: Command, { configure }: Context): void {
  user
    .command("remove")
    .argument("<email>", "e-mail address of the account")
    .summary("remove an account, its keys and its memories")
    .description(
      "Removes an account permanently, with its keys and memories. The owner's account can only be the last: ctxd user owner makes another account the owner.",
    )
    .option("-y, --yes", "do not ask for confirmation")
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
        throw new CommandError("Without a terminal, removing an account needs --yes.", USAGE);
      }
      const count = (await keys.list(account.id)).length;
      say(
        `This removes ${account.email}, its API keys (${count}) and all its memories, permanently.`,
      );
      if (!(await confirm(`Remove ${account.email}?`)))
        throw new CommandError("Nothing was removed.");
    }
    await accounts.remove(account.id);
    record("account_removed", { accountId: account.id });
    say(`Removed ${account.email}.`);
  });
}
