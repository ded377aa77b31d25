import type { Format } from "./format.ts";
import { isLineList, splitBlocks } from "./markdown.ts";
import { placeIn } from "./source.ts";
import { readText } from "./text-file.ts";

/**
 * Any text: each paragraph and each list item is a memory, with the heading above it as a tag. A
 * text without empty lines is a list with one memory a line, as the settings of ChatGPT and Claude
 * show theirs.
 */
export const plainText: Format = {
  name: "text",
  origin: "text",
  recognises: () => true,
  async *read(source) {
    const { lines, problems } = await readText(source);
    yield* problems;
    for (const { line, text, heading } of splitBlocks(lines, { eachLine: isLineList(lines) })) {
      const tags = heading === null ? [] : [heading];
      yield { at: placeIn(source, `line ${line}`), memory: { content: text, tags } };
    }
  },
};
