import { AppError } from "../errors.ts";
import type { EventFilter } from "../security-log/event-store.ts";
import { isEvent } from "../security-log/events.ts";

const DAY = 86_400_000;
/** Characters of a field; more is nothing that the log can have. */
const LONGEST = 254;

/** What the page of the security log is asked to show: the fields of its form, empty where nothing is. */
export interface SecurityView {
  event: string;
  /** An e-mail address or an account's id: for the owner's page alone. */
  account: string;
  address: string;
  /** Days in UTC, both included. */
  from: string;
  to: string;
  /** The id of an event: only older ones. */
  before: string;
}

const FIELDS = ["event", "account", "address", "from", "to", "before"] as const;

export function readSecurityView(parameters: URLSearchParams): SecurityView {
  const read = (name: keyof SecurityView) => (parameters.get(name) ?? "").trim().slice(0, LONGEST);
  return {
    event: read("event"),
    account: read("account"),
    address: read("address"),
    from: read("from"),
    to: read("to"),
    before: read("before"),
  };
}

/** The address of what shows a view. */
export function securityPath(
  path: string,
  view: Partial<SecurityView>,
  more: Readonly<Record<string, string>> = {},
): string {
  const parameters = new URLSearchParams(more);
  for (const name of FIELDS) if (view[name]) parameters.set(name, view[name]);
  return parameters.size > 0 ? `${path}?${parameters}` : path;
}

/** @throws AppError `validation_failed` */
export function filterOf({ event, address, from, to }: SecurityView): EventFilter {
  if (event !== "" && !isEvent(event)) {
    throw new AppError("validation_failed", "The log knows no such event: choose one of the list.");
  }
  return {
    event: isEvent(event) ? event : null,
    address: address === "" ? null : address.toLowerCase(),
    from: startOf(from),
    until: startOf(to, DAY),
  };
}

/** @throws AppError `validation_failed` */
export function beforeOf({ before }: SecurityView): number | null {
  if (before === "") return null;
  if (/^\d{1,15}$/.test(before)) return Number(before);
  throw new AppError("validation_failed", "This page is not there: go back to the newest events.");
}

/** The first moment of a day, or of one `later`. */
function startOf(day: string, later = 0): Date | null {
  if (day === "") return null;
  const time = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time + later);
  throw new AppError("validation_failed", "Give days as in 2027-01-31.");
}
