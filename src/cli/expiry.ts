import { InvalidArgumentError } from "commander";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UNITS = new Map([
  ["h", HOUR],
  ["d", DAY],
  ["w", 7 * DAY],
  ["y", 365 * DAY],
]);
const DATE = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/**
 * Parses `--expires`: a time from now (`90d`; a year has 365 days), a date (its start in UTC), or a date
 * and time with a time zone.
 * @throws InvalidArgumentError, which Commander shows, for any other text and for a time in the past
 */
export function parseExpiry(text: string): Date {
  const now = Date.now();
  const moment = parseSpan(text, now) ?? parseDate(text);
  if (moment === null) {
    throw new InvalidArgumentError(
      "Use a number of hours, days, weeks or years (12h, 90d, 2w, 1y), or a date (2027-01-31, 2027-01-31T18:00Z).",
    );
  }
  if (moment.getTime() <= now) throw new InvalidArgumentError("Use a time in the future.");
  return moment;
}

function parseSpan(text: string, now: number): Date | null {
  const [, count, unit = ""] = /^(\d{1,4})([hdwy])$/.exec(text) ?? [];
  const length = UNITS.get(unit);
  return length === undefined ? null : new Date(now + Number(count) * length);
}

function parseDate(text: string): Date | null {
  if (!DATE.test(text)) return null;
  const date = new Date(text);
  // Some engines turn 31 April into 1 May.
  const day = new Date(`${text.slice(0, 10)}T00:00Z`);
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  return exists && !Number.isNaN(date.getTime()) ? date : null;
}
