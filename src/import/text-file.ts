import type { Found } from "./format.ts";
import { placeIn, readTextLines, SourceError, type TextSource } from "./source.ts";

/** Characters of a text that is read as a whole, and bytes of one line. */
const MAX_TEXT = 64 << 20;
/** Lines of a text, and unreadable ones. Each takes memory, however short it is. */
const MAX_LINES = { all: 2_000_000, unreadable: 10_000 };

/** The lines of a text. An unreadable line is null and is reported among the problems. */
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
    if (problems.length > MAX_LINES.unreadable) {
      throw new SourceError(source.name, "is not text in UTF-8");
    }
    if (characters > MAX_TEXT || line.number > MAX_LINES.all) {
      throw new SourceError(source.name, "is too large: split it into several files");
    }
    lines.push("text" in line ? line.text : null);
  }
  return { lines, problems };
}
