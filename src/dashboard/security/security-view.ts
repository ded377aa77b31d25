import { AppError } from "../../errors.ts";
import type { EventFilter } from "../../security-log/event-store.ts";
import { isEvent } from "../../security-log/events.ts";

const DAY = 86_400_000;
/** Maximum characters of a field. No value in the log is longer. */
const MAX_LENGTH = 254;

/** The fields of the filter form. */
const FIELDS = [
  "event",
  /** Only on the owner's page: an e-mail address or the id of an account. */
  "account",
  "address",
  /** Days in UTC, inclusive. */
  "from",
  "to",
  /** The id of an event. Only older events are shown. */
  "before",
] as const;

/** The values of the filter form. Empty values do not filter. */
export type SecurityView = Record<(typeof FIELDS)[number], string>;

export function readSecurityView(parameters: URLSearchParams): SecurityView {
  const view: SecurityView = { event: "", account: "", address: "", from: "", to: "", before: "" };
  for (const name of FIELDS) view[name] = (parameters.get(name) ?? "").trim().slice(0, MAX_LENGTH);
  return view;
}

/** The address of a page or download with a view's filters. */
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
    throw new AppError("validation_failed", "There is no such event. Choose one from the list.");
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
  throw new AppError(
    "validation_failed",
    "This page does not exist. Go back to the newest events.",
  );
}

/** The first moment of a day, plus `later` milliseconds. @throws AppError `validation_failed` */
function startOf(day: string, later = 0): Date | null {
  if (day === "") return null;
  const time = /^\d{4}-\d\d-\d\d$/.test(day) ? Date.parse(`${day}T00:00:00Z`) : Number.NaN;
  if (!Number.isNaN(time)) return new Date(time + later);
  throw new AppError("validation_failed", "Enter days in the form 2027-01-31.");
}
