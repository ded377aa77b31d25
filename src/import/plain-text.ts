import type { Format } from "./format.ts";
import { isLineList, splitBlocks, subjectOf } from "./markdown.ts";
import { placeIn } from "./source.ts";
import { readText } from "./text-file.ts";

/**
 * Any text: each paragraph and each list item is a memory, with the headings above it as its subject
 * and the last of them as a tag. A text without empty lines is a list with one memory a line, as the settings of ChatGPT and Claude
 * show theirs.
 */
export const plainText: Format = {
  name: "text",
  origin: "text",
  recognises: () => true,
  async *read(source) {
    const { lines, problems } = await readText(source);
    yield* problems;
    for (const { line, text, headings } of splitBlocks(lines, { eachLine: isLineList(lines) })) {
      const memory = { content: text, subject: subjectOf(headings), tags: headings.slice(-1) };
      yield { at: placeIn(source, `line ${line}`), memory };
    }
  },
};
