import { JSONParser } from "@streamparser/json";
import { createPause } from "../pause.ts";
import type { Found } from "./format.ts";
import { placeIn, type TextSource } from "./source.ts";

/** Characters without the end of an entry after which a document is given up. */
const MAX_ENTRY = 64 << 20;
/** Bytes that are read at once: the fewer, the nearer to what is damaged the reading comes. */
const SLICE = 256;
/** Where the lists of known programs are. */
const LISTS = ["results", "memories", "records", "data"];

/**
 * Reads the entries of the list that a JSON document is or has, one at a time. Where the document is
 * damaged it ends, and that is told; what came before is read.
 * @param read gets each with the names of the lists that it is in, such as `data.memories`
 * @param paths where the lists are in a document that is none, as `$.data.memories.*`
 */
export async function* readEntries(
  source: TextSource,
  read: (entry: unknown, at: string, list: string) => Iterable<Found>,
  paths: readonly string[] = LISTS.flatMap((name) => [`$.${name}.*`, `$.data.${name}.*`]),
): AsyncGenerator<Found> {
  const isList = source.head.trimStart().startsWith("[");
  const turn = createPause();
  const parser = new JSONParser({
    paths: isList ? ["$.*"] : [...paths],
    keepStack: false,
    // What follows the document is no reason to lose it.
    separator: "",
  });
  let waiting: { value: unknown; list: string }[] = [];
  let count = 0;
  let sinceLast = 0;
  parser.onValue = ({ value, stack }) => {
    const list = stack.flatMap(({ key }) => (typeof key === "string" ? key : [])).join(".");
    waiting.push({ value, list });
    sinceLast = 0;
  };
  const taken = () => {
    const entries = waiting.map((entry) => ({
      ...entry,
      at: placeIn(source, `entry ${++count}`),
    }));
    waiting = [];
    return entries;
  };

  const decoder = new TextDecoder("utf-8", { fatal: true });
  let problem: string | null = null;
  const feed = (decode: () => string, isLast = false) => {
    try {
      const text = decode();
      sinceLast += text.length;
      if (text !== "") parser.write(text);
      if (sinceLast > MAX_ENTRY) problem = "is too large";
      if (isLast && !parser.isEnded) parser.end();
    } catch (error) {
      problem =
        error instanceof TypeError && "code" in error
          ? "is not text in UTF-8: the rest was not read"
          : "is damaged or cut off: the rest was not read";
    }
  };
  for await (const bytes of inSlices(source.bytes)) {
    await turn();
    feed(() => decoder.decode(bytes, { stream: true }));
    for (const { value, at, list } of taken()) yield* read(value, at, list);
    if (problem !== null) break;
  }
  if (problem === null) {
    feed(() => decoder.decode(), true);
    for (const { value, at, list } of taken()) yield* read(value, at, list);
  }
  if (problem !== null) yield { at: placeIn(source, `entry ${count + 1}`), problem };
}

async function* inSlices(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    for (let start = 0; start < chunk.length; start += SLICE) {
      yield chunk.subarray(start, start + SLICE);
    }
  }
}
