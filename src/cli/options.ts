import type { TSchema } from "@sinclair/typebox";
import { type Command, InvalidArgumentError, Option } from "commander";
import { LIMITS, MEMORY_ID, Tag } from "../memories/model/memory.ts";
import { instant, parseInstant, problemOf } from "../text/input-kinds.ts";
import { parseUrl } from "./server/url.ts";

/** Makes a parser for an option whose value is a name, such as that of an agent or a project. */
export function nameParser(schema: TSchema): (name: string) => string {
  return (name) => {
    const problem = problemOf(schema, name);
    if (problem === null) return name;
    throw new InvalidArgumentError(`It ${problem}.`);
  };
}

/** Refuses `--project-only` without `--project`. */
export function checkProjectOnly(
  { project, projectOnly }: { project?: string; projectOnly?: boolean },
  command: Command,
): void {
  if (projectOnly && project === undefined) {
    command.error("error: --project-only goes with --project");
  }
}

/** Collects the tags of an option that may be repeated. */
export function collectTags(tag: string, before: readonly string[] = []): string[] {
  return [...before, nameParser(Tag)(tag)];
}

/** Parses a number from 0 to 1. */
export function parseShare(text: string): number {
  const number = /^(\d+|\d*\.\d+)$/.test(text) ? Number(text) : Number.NaN;
  if (number >= 0 && number <= 1) return number;
  throw new InvalidArgumentError("Use a number from 0 to 1.");
}

/** Parses the largest number of results. */
export function parseLimit(text: string): number {
  const number = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= LIMITS.page) return number;
  throw new InvalidArgumentError(`Use a whole number from 1 to ${LIMITS.page}.`);
}

/** Parses the id of a memory. */
export function parseId(text: string): string {
  if (MEMORY_ID.test(text)) return text;
  throw new InvalidArgumentError("Use an id such as mem_0197f2c4e0b47c3a9a1d5b8e2f60c711.");
}

/** Checks a date or a time in the form of the API. */
export function parseMoment(text: string): string {
  if (parseInstant(text) !== null) return text;
  throw new InvalidArgumentError(`It ${problemOf(instant({}), text)}.`);
}

/** The options that choose an account of this machine's server, a space, or a remote server; see `Target`. */
export const targetOptions = {
  user: () => new Option("--user <email>", "the account (default: the server's owner)"),
  space: () =>
    new Option(
      "--space <name>",
      "a space, by its name or id, or personal for what is in none (default: the account itself)",
    ),
  url: () =>
    new Option(
      "--url <url>",
      "a remote server; its API key is asked for, or read as one line of standard input",
    ).argParser(parseUrl),
};

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const UNITS = new Map([
  ["h", HOUR],
  ["d", DAY],
  ["w", 7 * DAY],
  ["y", 365 * DAY],
]);

/**
 * Parses `--expires`: a time from now (`90d`; a year has 365 days), a date (its start in UTC), or a date
 * and time with a time zone.
 * @throws InvalidArgumentError, which Commander shows, for any other text and for a time in the past
 */
export function parseExpiry(text: string): Date {
  const now = Date.now();
  // A time may lack its seconds.
  const at = parseSpan(text, now) ?? parseInstant(text.replace(/(?<=T\d\d:\d\d)(?=Z|[+-])/, ":00"));
  if (at === null) {
    throw new InvalidArgumentError(
      "Use a number of hours, days, weeks or years (12h, 90d, 2w, 1y), or a date (2027-01-31, 2027-01-31T18:00Z).",
    );
  }
  if (at <= now) throw new InvalidArgumentError("Use a time in the future.");
  return new Date(at);
}

function parseSpan(text: string, now: number): number | null {
  const [, count, unit = ""] = /^(\d{1,4})([hdwy])$/.exec(text) ?? [];
  const length = UNITS.get(unit);
  return length === undefined ? null : now + Number(count) * length;
}
