import { JSONParser, TokenType } from "@streamparser/json";
import { ENTRY_LIMITS, type JsonObject, parseObject } from "../../text/parse-json.ts";
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
/** Bytes of a text or number that are kept apart until it is complete. */
const BUFFER_BYTES = 1 << 16;
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
  const parser = new JSONParser({
    paths: isList ? ["$.*"] : [...paths],
    keepStack: false,
    // Text after the document is ignored.
    separator: "",
    stringBufferSize: BUFFER_BYTES,
    numberBufferSize: BUFFER_BYTES,
  });
  let entries: { value: unknown; list: string }[] = [];
  let count = 0;
  let sinceLast = 0;
  let problem: string | null = null;
  let [values, depth] = [0, 0];
  parser.onToken = ({ token }) => {
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) depth++;
    else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) depth--;
    else if (token === TokenType.COMMA) values++;
    if (depth > ENTRY_LIMITS.depth) problem = "is nested too deeply: the rest was not read";
    if (values > ENTRY_LIMITS.values) problem = "has too many values: the rest was not read";
    if (problem !== null) throw new Error(problem);
  };
  parser.onValue = ({ value, stack }) => {
    const list = stack.flatMap(({ key }) => (typeof key === "string" ? key : [])).join(".");
    entries.push({ value, list });
    sinceLast = 0;
    values = 0;
  };
  const takeResults = function* (): Generator<FoundEntry> {
    for (const { value, list } of entries) {
      const at = locationIn(source, `entry ${++count}`);
      for (const result of read(value, list)) yield { at, ...result };
    }
    entries = [];
  };

  const decoder = new TextDecoder("utf-8", { fatal: true });
  const feed = (decode: () => string, isLast = false) => {
    try {
      const text = decode();
      sinceLast += text.length;
      if (text !== "") parser.write(text);
      if (sinceLast > MAX_ENTRY) problem = "is too large";
      if (isLast && !parser.isEnded) parser.end();
    } catch (error) {
      problem ??=
        error instanceof TypeError && "code" in error
          ? "is not text in UTF-8: the rest was not read"
          : "is damaged or cut off: the rest was not read";
    }
  };
  for await (const bytes of inSlices(source.bytes, SLICE_BYTES)) {
    await pause();
    feed(() => decoder.decode(bytes, { stream: true }));
    yield* takeResults();
    if (problem !== null) break;
  }
  if (problem === null) {
    feed(() => decoder.decode(), true);
    yield* takeResults();
  }
  if (problem !== null) yield { at: locationIn(source, `entry ${count + 1}`), problem };
}
