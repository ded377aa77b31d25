import { type Command, InvalidArgumentError } from "commander";
import type { Config } from "../../config/config.ts";
import { EVENTS, isEvent } from "../../security-log/events.ts";
import { toJson } from "../../security-log/formats.ts";
import { type Context, examples } from "../context.ts";
import { requireAccount, withStores } from "../stores.ts";
import { formatMoment, printJson, printTable, say, usageError } from "../terminal.ts";

interface SecurityOptions {
  user?: string;
  event?: string;
  address?: string;
  limit: number;
  json?: boolean;
}

export function define(program: Command, { configureExisting }: Context): void {
  program
    .command("security")
    .summary("show the security log: sign-ins, accounts, keys, apps, exports, deletions")
    .description(
      "Shows the security log, newest events first: sign-ins and failed sign-ins, accounts, keys and grants that were created, changed or revoked, and exports.",
    )
    .option("--user <email>", "only events of this account")
    .option("--event <name>", "only these events, such as sign_in_failed")
    .option("--address <ip>", "only events from this address")
    .option("--limit <number>", "the largest number of events (50)", parseLimit, 50)
    .option("--json", "as JSON")
    .addHelpText(
      "after",
      examples("ctxd security", "ctxd security --event sign_in_failed --limit 1000 --json"),
    )
    .action((options: SecurityOptions) => showSecurity(configureExisting(), options));
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Use a whole number from 1 to 999999.");
}

async function showSecurity(config: Config, options: SecurityOptions): Promise<void> {
  const { user, event, address, limit } = options;
  if (event !== undefined && !isEvent(event)) {
    const known = Object.keys(EVENTS).join(", ");
    throw usageError(`There is no such event. The events are: ${known}.`);
  }
  const { events, emails } = await withStores(config, async ({ accounts, listEvents }) => ({
    events: await listEvents(
      user === undefined ? null : (await requireAccount(accounts, user)).id,
      { event: event ?? null, address: address ?? null },
      { limit },
    ),
    emails: new Map((await accounts.list()).map(({ id, email }) => [id, email])),
  }));
  if (options.json) return await printJson(events.map(toJson));
  if (events.length === 0) return say("No event matches.");
  const nameOf = (id: string | null) => (id === null ? "-" : (emails.get(id) ?? id));
  await printTable(
    ["WHEN", "EVENT", "ACCOUNT", "BY", "FROM", "TIMES", "WHAT"],
    events.map((each) => [
      formatMoment(each.at),
      each.event,
      nameOf(each.accountId),
      nameOf(each.actorId),
      [each.via, each.address ?? ""].join(" ").trim(),
      `${each.times}`,
      each.subject ?? each.subjectId ?? "-",
    ]),
  );
}
