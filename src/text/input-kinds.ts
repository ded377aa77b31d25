import { Kind, type SchemaOptions, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";
import { hasHidden } from "./plain-text.ts";
import { pairsIn } from "./short-text.ts";

/**
 * Kinds of input that JSON Schema alone can't check. They share one TypeBox kind, whose schemas
 * contain a check that describes the problem in words.
 */
const CHECKED = "Checked";
const Problem = Symbol("problem");

/** Returns the problem with a value as the end of a sentence, or `null`. */
type Check = (value: unknown) => string | null;

interface CheckedSchema extends TSchema {
  [Problem]: Check;
}

TypeRegistry.Set<CheckedSchema>(CHECKED, (schema, value) => schema[Problem](value) === null);

/** The problem that a schema of this file finds in a value; `null` for none, and for other schemas. */
export function problemOf(schema: TSchema, value: unknown): string | null {
  return schema[Kind] === CHECKED ? (schema as CheckedSchema)[Problem](value) : null;
}

/** A JSON schema for documentation, with a check that alone decides about a value. */
export function checked<Value>(schema: SchemaOptions, check: Check) {
  return Type.Unsafe<Value>({ ...schema, [Kind]: CHECKED, [Problem]: check });
}

interface TextOptions extends SchemaOptions {
  /** In characters (code points), as in JSON Schema. TypeBox's own string counts UTF-16 units. */
  minLength: number;
  maxLength: number;
}

/** Further rules for a text. */
interface TextRules {
  /** Refuse text that is only white space. */
  notBlank?: boolean;
  /** Ignore white space around the text. */
  trimmed?: boolean;
  /** Refuse text with a comma, so that a list of such texts can be separated by commas. */
  noComma?: boolean;
  /** Refuse hidden characters: a label with them could add a line to a text for agents. */
  visible?: boolean;
}

/** Well-formed Unicode text of a limited number of characters. */
export function text(options: TextOptions, rules: TextRules = {}) {
  return checked<string>({ type: "string", ...options }, (input) => {
    if (typeof input !== "string") return "must be a string";
    const value = rules.trimmed ? input.trim() : input;
    if (value.length < options.minLength) return "must not be empty";
    if (hasMoreCharacters(value, options.maxLength)) {
      return `must have at most ${options.maxLength} characters`;
    }
    if (rules.notBlank && value.trim() === "") return "must not be only white space";
    if (rules.noComma && value.includes(",")) return "must not contain a comma";
    if (rules.visible && hasHidden(value))
      return "must not contain control or invisible characters";
    return value.isWellFormed() ? null : "must be well-formed Unicode";
  });
}

function hasMoreCharacters(value: string, limit: number) {
  // A character has one or two UTF-16 units, so most texts need no count.
  if (value.length <= limit) return false;
  return value.length > 2 * limit || value.length - pairsIn(value) > limit;
}

const NUMBER = /^-?(\d+(\.\d*)?|\.\d+)(e[+-]?\d{1,3})?$/i;
const WHOLE_NUMBER = /^-?\d{1,15}$/;

/**
 * A number in a query string. The value is text, or a number when it is the schema's default. Elysia's
 * own conversion skips integers, and its errors about other numbers lack the parameter's name.
 */
export function numberText(
  type: "integer" | "number",
  options: SchemaOptions & { minimum: number; maximum: number },
) {
  const { minimum, maximum } = options;
  const [shape, name] = type === "integer" ? [WHOLE_NUMBER, "whole number"] : [NUMBER, "number"];
  return checked<string | number>({ type, ...options }, (value) => {
    const number = typeof value === "string" && shape.test(value) ? Number(value) : value;
    return typeof number === "number" && number >= minimum && number <= maximum
      ? null
      : `must be a ${name} from ${minimum} to ${maximum}`;
  });
}

/** A time in RFC 3339 (`2026-11-21T07:00:00Z`, any offset), or a date, which means midnight in UTC. */
export function instant(options: SchemaOptions) {
  return checked<string>({ type: "string", format: "date-time", ...options }, (value) =>
    typeof value === "string" && parseInstant(value) !== null
      ? null
      : "must be a moment such as 2026-11-21T07:00:00Z or a date such as 2026-11-21",
  );
}

const INSTANT =
  /^(\d{4})-(\d{2})-(\d{2})(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2}))?$/i;

/** Milliseconds since 1970 of an RFC 3339 time or date; `null` when the text is neither. */
export function parseInstant(value: string): number | null {
  const match = INSTANT.exec(value);
  if (!match) return null;
  // Date.parse reads 31 February as 3 March, so the day is checked here.
  const [year = 0, month = 0, day = 0] = match.slice(1).map(Number);
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const time = Date.parse(value.toUpperCase());
  return Number.isNaN(time) || day > daysInMonth ? null : time;
}

const DAY = 86_400_000;
const IS_DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The last millisecond of such a time: a date means its end. Undefined for no time. */
export function parseEnd(value: string | undefined): number | undefined {
  const start = value === undefined ? null : parseInstant(value);
  if (value === undefined || start === null) return undefined;
  return IS_DATE.test(value) ? start + DAY - 1 : start;
}

/** A JSON object of any shape, with finite numbers and at most `maxBytes` as JSON in UTF-8. */
export function jsonObject(options: SchemaOptions & { maxBytes: number }) {
  const { maxBytes, ...schema } = options;
  return checked<Record<string, unknown>>(
    { type: "object", additionalProperties: true, ...schema },
    (value) => {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        return "must be a JSON object";
      }
      // Each level takes two bytes for brackets. JSON.stringify takes seconds for very deep values.
      const json = isDeeperThan(maxBytes / 2, value) ? null : toFiniteJson(value);
      if (json === undefined) return "must have finite numbers only";
      return json !== null && Buffer.byteLength(json) <= maxBytes
        ? null
        : `must have at most ${maxBytes} bytes as JSON`;
    },
  );
}

function isDeeperThan(limit: number, value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= limit; depth++) {
    level = level.flatMap((item) =>
      typeof item === "object" && item !== null ? Object.values(item) : [],
    );
    if (level.length === 0) return false;
  }
  return true;
}

/** JSON.parse reads 1e999 as Infinity, which JSON.stringify would silently turn into null. */
function toFiniteJson(value: object): string | undefined {
  let allFinite = true;
  const json = JSON.stringify(value, (_, item) => {
    if (typeof item === "number" && !Number.isFinite(item)) allFinite = false;
    return item;
  });
  return allFinite ? json : undefined;
}
