export type JsonObject = Record<string, unknown>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether a value is a text with more than white space. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** Parses JSON; null when it is invalid or no object. */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** Lines that identify a format. Several, since the first ones may be damaged. */
const MAX_HEAD_LINES = 20;

/** The objects in the first lines of a text. */
export function objectsOf(head: string): JsonObject[] {
  const lines = head.split("\n", MAX_HEAD_LINES);
  return lines.map(parseObject).filter((object) => object !== null);
}
