import { createJsonStream, JsonProblem } from "../../text/json-stream.ts";
import { type JsonObject, parseObject } from "../../text/parse-json.ts";
import { createPause } from "../../timing/pause.ts";
import type { EntryResult, FoundEntry } from "../formats/format.ts";
import { inSlices, locationIn, readTextLines, type TextSource } from "./source.ts";

/** Bytes of a line in an export of another program. */
const MAX_LINE_BYTES = 16 << 20;

/** Reads each line as a JSON object. A line without one is reported as a problem. */
export async function* readObjects(
  source: TextSource,
  read: (object: JsonObject) => Iterable<EntryResult>,
): AsyncGenerator<FoundEntry> {
  for await (const line of readTextLines(source, MAX_LINE_BYTES)) {
    const at = locationIn(source, `line ${line.number}`);
    if ("problem" in line) {
      yield { at, problem: line.problem };
      continue;
    }
    if (line.text.trim() === "") continue;
    const object = parseObject(line.text);
    if (!object) yield { at, problem: "is not a JSON object" };
    else for (const result of read(object)) yield { at, ...result };
  }
}

const MAX_ENTRY = 64 << 20;
/** Bytes that are parsed at once. In a damaged file, fewer bytes save more entries before the damage. */
const SLICE_BYTES = 256;
/** Fields that contain the list of entries. */
const LISTS = ["results", "memories", "records", "data"];

/**
 * Reads the entries of a JSON list one at a time. The document is the list, or an object that contains
 * it. Reading stops where the document is damaged, and reports that.
 * @param read receives each entry with the path of its list, such as `data.memories`
 * @param paths JSON paths of the entries in a document that is an object, such as `$.data.memories.*`
 */
export async function* readEntries(
  source: TextSource,
  read: (entry: unknown, list: string) => Iterable<EntryResult>,
  paths: readonly string[] = LISTS.flatMap((name) => [`$.${name}.*`, `$.data.${name}.*`]),
): AsyncGenerator<FoundEntry> {
  const isList = source.head.trimStart().startsWith("[");
  const pause = createPause();
  let entries: { value: unknown; list: string }[] = [];
  let count = 0;
  let problem: string | null = null;
  const stream = createJsonStream(
    { paths: isList ? ["$.*"] : [...paths], maxLength: MAX_ENTRY, isFirst: true },
    (value, _, within) => entries.push({ value, list: within.join(".") }),
  );
  const takeResults = function* (): Generator<FoundEntry> {
    for (const { value, list } of entries) {
      const at = locationIn(source, `entry ${++count}`);
      for (const result of read(value, list)) yield { at, ...result };
    }
    entries = [];
  };

  const attempt = (read: () => void) => {
    try {
      read();
    } catch (error) {
      if (!(error instanceof JsonProblem)) throw error;
      problem = `${error.message}: the rest was not read`;
    }
  };
  for await (const bytes of inSlices(source.bytes, SLICE_BYTES)) {
    await pause();
    attempt(() => stream.write(bytes));
    yield* takeResults();
    if (problem !== null) break;
  }
  if (problem === null) {
    attempt(stream.end);
    yield* takeResults();
  }
  if (problem !== null) yield { at: locationIn(source, `entry ${count + 1}`), problem };
}
