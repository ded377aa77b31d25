import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { defineAccess } from "./access.ts";
import { defineAccounts } from "./accounts.ts";

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
