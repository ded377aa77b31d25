import type { Found } from "./format.ts";
import { placeIn, readTextLines, SourceError, type TextSource } from "./source.ts";

/** Bytes of a text that is read as a whole. */
const MAX_TEXT = 64 << 20;

/** A text in lines: null for one that can't be read, which is among the problems. */
export async function readText(
  source: TextSource,
): Promise<{ lines: (string | null)[]; problems: Found[] }> {
  const lines: (string | null)[] = [];
  const problems: Found[] = [];
  let characters = 0;
  for await (const line of readTextLines(source, MAX_TEXT)) {
    if ("text" in line) characters += line.text.length;
    else {
      problems.push({ at: placeIn(source, `line ${line.number}`), problem: line.problem });
    }
    if (characters > MAX_TEXT) {
      throw new SourceError(source.name, "is too large: cut it into parts");
    }
    lines.push("text" in line ? line.text : null);
  }
  return { lines, problems };
}
