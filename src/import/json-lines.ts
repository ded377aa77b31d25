import type { Found } from "./format.ts";
import { type JsonObject, parseObject } from "./json-objects.ts";
import { placeIn, readTextLines, type TextSource } from "./source.ts";

/** Bytes of a line in an export of another program. */
const MAX_LINE_BYTES = 16 << 20;

/** Reads each line as a JSON object. A line without one is reported as a problem. */
export async function* readObjects(
  source: TextSource,
  read: (object: JsonObject, at: string) => Iterable<Found>,
): AsyncGenerator<Found> {
  for await (const line of readTextLines(source, MAX_LINE_BYTES)) {
    const at = placeIn(source, `line ${line.number}`);
    if ("problem" in line) {
      yield { at, problem: line.problem };
      continue;
    }
    if (line.text.trim() === "") continue;
    const object = parseObject(line.text);
    if (object) yield* read(object, at);
    else yield { at, problem: "is not a JSON object" };
  }
}
