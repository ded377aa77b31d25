import type { Command } from "commander";
import type { Config } from "../../../config/config.ts";
import type { Context } from "../../context.ts";
import { withStores } from "../../stores.ts";
import { print, printJson, say } from "../../terminal.ts";
import { formatMoment, formatTable } from "../../text-table.ts";

/** Adds `ctxd user list`. */
export function defineList(user: Command, { configure }: Context): void {
  user
    .command("list")
    .description("list the accounts")
    .option("--json", "as JSON")
    .action((options: { json?: boolean }) => listUsers(configure(), options));
}

/** `ctxd user list` */
async function listUsers(config: Config, options: { json?: boolean }): Promise<void> {
  const accounts = await withStores(config, async ({ accounts, factors }) => {
    const listed = [];
    // One query after the other: a database can't answer any number of them at once in time.
    for (const account of await accounts.list()) {
      listed.push({ ...account, factors: await factors.kinds(account.id) });
    }
    return listed;
  });
  if (options.json) {
    const entries = accounts.map(({ createdAt, disabledAt, factors, ...rest }) => ({
      ...rest,
      second_factors: factors,
      created_at: createdAt,
      disabled_at: disabledAt,
    }));
    return await printJson(entries);
  }
  if (accounts.length === 0) return say("No accounts yet: ctxd user add EMAIL adds one.");
  await print(
    formatTable(
      ["EMAIL", "ROLE", "SECOND FACTOR", "CREATED", "ID"],
      accounts.map(({ email, role, factors, createdAt, disabledAt, id }) => [
        email,
        disabledAt ? `${role}, disabled` : role,
        factors.join(", ") || "-",
        formatMoment(createdAt),
        id,
      ]),
    ),
  );
}
