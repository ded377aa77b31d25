import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { defineDisable, definePasswd, defineResetFactor, defineRevoke } from "./access.ts";
import { defineAdd, defineList, defineOwner, defineQuota, defineRemove } from "./accounts.ts";

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
  for (const command of [
    defineAdd,
    defineList,
    definePasswd,
    defineQuota,
    defineOwner,
    defineRemove,
    defineDisable,
    defineResetFactor,
    defineRevoke,
  ])
    command(user, context);
}
