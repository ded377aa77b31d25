import type { Command } from "commander";
import { parseEmail } from "../../../accounts/email.ts";
import type { Config } from "../../../config/config.ts";
import { AppError } from "../../../errors.ts";
import { describeCommand } from "../../../server/invocation.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { withStores } from "../../stores.ts";
import { say } from "../../terminal.ts";
import { readNewPassword } from "./new-password.ts";

/** Adds `ctxd user add`. */
export function defineAdd(user: Command, { configure, env }: Context): void {
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
