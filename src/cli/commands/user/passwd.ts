import type { Command } from "commander";
import type { Config } from "../../../config/config.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { say } from "../../terminal.ts";
import { readNewPassword } from "./new-password.ts";

/** Adds `ctxd user passwd`. */
export function definePasswd(user: Command, { configure }: Context): void {
  user
    .command("passwd")
    .argument("<email>", "e-mail address of the account")
    .summary("change an account's password")
    .description(
      "Changes an account's password. The new one is asked for, or read as one line of standard input.",
    )
    .addHelpText("after", examples("ctxd user passwd you@example.com"))
    .action((email: string) => changePassword(configure(), email));
}

/** `ctxd user passwd EMAIL` */
async function changePassword(config: Config, email: string): Promise<void> {
  await withStores(config, async ({ accounts, record }) => {
    const account = await requireAccount(accounts, email);
    await accounts.setPassword(account.id, await readNewPassword(email));
    record("password_changed", { accountId: account.id });
    say(`Changed the password of ${account.email}.`);
  });
}
