import { isBeyond, parsed } from "../../text/parse-json.ts";

export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a text with more than white space. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/**
 * Values of an entry, and how deep they are nested. A conversation of ten thousand messages has less. Each value takes
 * memory, however short its text is, and what walks through deep ones runs out of stack.
 */
export const ENTRY_LIMITS = { values: 1_000_000, depth: 500 };

/** Parses JSON; null when it is invalid, no object, or beyond `ENTRY_LIMITS`. */
export function parseObject(text: string): JsonObject | null {
  const value = isBeyond(text, ENTRY_LIMITS) ? null : parsed(text);
  return isObject(value) ? value : null;
}

/** Lines that identify a format. Several, since the first ones may be damaged. */
const MAX_HEAD_LINES = 20;

/** The objects in the first lines of a text. */
export function objectsOf(head: string): JsonObject[] {
  const lines = head.split("\n", MAX_HEAD_LINES);
  return lines.map(parseObject).filter((object) => object !== null);
}
