import { InvalidArgumentError } from "commander";
import { LIMITS, MEMORY_ID, Tag } from "../memories/model/memory.ts";
import { instant, parseInstant, problemOf } from "../text/input-kinds.ts";

/** Collects the tags of an option that may be repeated. */
export function collectTags(tag: string, before: readonly string[] = []): string[] {
  const problem = problemOf(Tag, tag);
  if (problem !== null) throw new InvalidArgumentError(`It ${problem}.`);
  return [...before, tag];
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
