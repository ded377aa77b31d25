import type { Found } from "./format.ts";
import { placeIn, readTextLines, type TextSource } from "./source.ts";

export type JsonObject = Record<string, unknown>;

/** Bytes of a line of another program. */
const MAX_LINE = 16 << 20;
/** Lines of the beginning that tell what a file is: the first ones may be damaged. */
const LOOKED_AT = 20;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects that the first lines of a text are. */
export function objectsOf(head: string): JsonObject[] {
  return head.split("\n", LOOKED_AT).flatMap((line) => {
    const value = parse(line);
    return isObject(value) ? [value] : [];
  });
}

/** Reads each line as an object; what is none is a problem. */
export async function* readObjects(
  source: TextSource,
  read: (object: JsonObject, at: string) => Iterable<Found>,
): AsyncGenerator<Found> {
  for await (const line of readTextLines(source, MAX_LINE)) {
    const at = placeIn(source, `line ${line.number}`);
    if ("problem" in line) {
      yield { at, problem: line.problem };
      continue;
    }
    if (line.text.trim() === "") continue;
    const value = parse(line.text);
    if (isObject(value)) yield* read(value, at);
    else yield { at, problem: "is not a JSON object" };
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
