import type { Command } from "commander";
import type { Config } from "../../../config/config.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { say } from "../../terminal.ts";

/** Adds `ctxd user disable ` and `ctxd user enable`. */
export function defineDisable(user: Command, { configure }: Context): void {
  user
    .command("disable")
    .argument("<email>", "e-mail address of the account")
    .summary("disable an account until it is enabled again")
    .description(
      "Disables an account: nobody can sign in, its keys stop working, and its sessions and apps end at once. Its memories stay. The owner's account can't be disabled.",
    )
    .addHelpText("after", examples("ctxd user disable bob@example.com"))
    .action((email: string) => setDisabled(configure(), email, true));
  user
    .command("enable")
    .argument("<email>", "e-mail address of the account")
    .summary("enable a disabled account")
    .description("Enables a disabled account. Its keys work again.")
    .action((email: string) => setDisabled(configure(), email, false));
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
