import type { Command } from "commander";
import type { Context } from "../../context.ts";
import { define as add } from "./add.ts";
import { define as disable } from "./disable.ts";
import { define as list } from "./list.ts";
import { define as owner } from "./owner.ts";
import { define as passwd } from "./passwd.ts";
import { define as quota } from "./quota.ts";
import { define as remove } from "./remove.ts";
import { define as resetFactor } from "./reset-factor.ts";
import { define as revoke } from "./revoke.ts";

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
  for (const command of [add, list, passwd, quota, owner, remove, disable, resetFactor, revoke])
    command(user, context);
}
