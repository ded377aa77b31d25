import { JSONParser } from "@streamparser/json";
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
 */
export async function* readEntries(
  source: TextSource,
  read: (entry: unknown, at: string) => Iterable<Found>,
): AsyncGenerator<Found> {
  const isList = source.head.trimStart().startsWith("[");
  const parser = new JSONParser({
    paths: isList ? ["$.*"] : LISTS.flatMap((name) => [`$.${name}.*`, `$.data.${name}.*`]),
    keepStack: false,
    // What follows the document is no reason to lose it.
    separator: "",
  });
  let waiting: unknown[] = [];
  let count = 0;
  let sinceLast = 0;
  parser.onValue = ({ value }) => {
    waiting.push(value);
    sinceLast = 0;
  };
  const taken = () => {
    const entries = waiting.map((value) => ({ value, at: placeIn(source, `entry ${++count}`) }));
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
    feed(() => decoder.decode(bytes, { stream: true }));
    for (const { value, at } of taken()) yield* read(value, at);
    if (problem !== null) break;
  }
  if (problem === null) {
    feed(() => decoder.decode(), true);
    for (const { value, at } of taken()) yield* read(value, at);
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
