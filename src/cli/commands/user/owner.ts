import type { Command } from "commander";
import type { Config } from "../../../config/config.ts";
import type { Context } from "../../context.ts";
import { examples } from "../../help-text.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { say } from "../../terminal.ts";

/** Adds `ctxd user owner`. */
export function defineOwner(user: Command, { configure }: Context): void {
  user
    .command("owner")
    .argument("<email>", "e-mail address of the account")
    .summary("make an account the owner of the server")
    .description(
      "Makes an account the owner of the server. The previous owner becomes a member. From then on local agents save to the new owner's account; earlier memories stay in the previous one.",
    )
    .addHelpText("after", examples("ctxd user owner ada@example.com"))
    .action((email: string) => changeOwner(configure(), email));
}

/** `ctxd user owner EMAIL` */
async function changeOwner(config: Config, email: string): Promise<void> {
  await withStores(config, async ({ accounts, record }) => {
    const account = await requireAccount(accounts, email);
    if (account.role === "owner") return say(`${account.email} already owns this server.`);
    const former = await accounts.handOver(account.id);
    record("owner_changed", { accountId: account.id });
    const member = former === null ? "" : `, and ${former.email} is a member`;
    const past =
      former === null ? "" : ` Their earlier memories stay in the account of ${former.email}.`;
    say(
      `${account.email} owns this server now${member}. From now on local agents (ctxd mcp) use this account.${past}`,
    );
  });
}
