import type { Config } from "../config.ts";
import { EVENTS, isEvent } from "../security-log/events.ts";
import { toJson } from "../security-log/formats.ts";
import { CommandError, USAGE } from "./failure.ts";
import { requireAccount, withStores } from "./stores.ts";
import { formatMoment, formatTable } from "./table.ts";
import { print, say } from "./terminal.ts";

/** Which events are wanted. */
export interface SecurityOptions {
  user?: string;
  event?: string;
  address?: string;
  limit: number;
  json?: boolean;
}

/** `ctxd security` */
export async function showSecurity(config: Config, options: SecurityOptions): Promise<void> {
  const { user, event, address, limit } = options;
  if (event !== undefined && !isEvent(event)) {
    const known = Object.keys(EVENTS).join(", ");
    throw new CommandError(`There is no such event. There are: ${known}.`, USAGE);
  }
  const { events, emails } = await withStores(config, async ({ accounts, listEvents }) => ({
    events: await listEvents(
      user === undefined ? null : (await requireAccount(accounts, user)).id,
      { event: event ?? null, address: address ?? null },
      { limit },
    ),
    emails: new Map((await accounts.list()).map(({ id, email }) => [id, email])),
  }));
  if (options.json) return await print(JSON.stringify(events.map(toJson), null, 2));
  if (events.length === 0) return say("Nothing has happened that fits.");
  const nameOf = (id: string | null) => (id === null ? "-" : (emails.get(id) ?? id));
  await print(
    formatTable(
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
    ),
  );
}
