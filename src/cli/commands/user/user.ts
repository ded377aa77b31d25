import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { defineAdd } from "./add.ts";
import { defineDisable } from "./disable.ts";
import { defineList } from "./list.ts";
import { defineOwner } from "./owner.ts";
import { definePasswd } from "./passwd.ts";
import { defineQuota } from "./quota.ts";
import { defineRemove } from "./remove.ts";
import { defineResetFactor } from "./reset-factor.ts";
import { defineRevoke } from "./revoke.ts";

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
  for (const command of [defineAdd, defineList, definePasswd, defineQuota, defineOwner, defineRemove, defineDisable, defineResetFactor, defineRevoke])
    command(user, context);
}
