import type { Format } from "./format.ts";
import { isLineList, splitBlocks, subjectOf } from "./markdown.ts";
import { placeIn } from "./source.ts";
import { readText } from "./text-file.ts";

/**
 * Any text: each paragraph and each list item becomes a memory, with the headings above it as its
 * subject and the last heading as a tag. In a text without empty lines, each line becomes a memory: so
 * the settings of ChatGPT and Claude show their memories.
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
