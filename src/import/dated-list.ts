import type { Format } from "./format.ts";
import { splitBlocks, subjectOf } from "./markdown.ts";
import { placeIn } from "./source.ts";
import { readText } from "./text-file.ts";

/** `[2025-04-01] - The user has a cat.`, or with `unknown` in place of the date. */
const ENTRY = /^\s*(?:[-*•]\s+)?\[([^\]]{1,40})\]\s*[-–—:]\s+(\S.*)$/;
const FENCE = /^\s*```/;

/**
 * The answer of ChatGPT, Claude and others to a request for all their memories, in the form that
 * Claude's help suggests (`[date saved, if available] - memory content`,
 * https://support.claude.com/en/articles/12123587-import-and-export-your-memory-from-claude).
 */
export const datedList: Format = {
  name: "a list of memories with dates",
  origin: "text",
  recognises(head) {
    const lines = head.split("\n").filter((line) => line.trim() !== "" && !FENCE.test(line));
    // A third is enough: the last line may be cut, and other lines may be headings.
    return lines.length > 0 && lines.filter((line) => ENTRY.test(line)).length > lines.length / 3;
  },
  async *read(source) {
    const { lines, problems } = await readText(source);
    yield* problems;
    // Each entry begins a new block. Marks of a code block around the list are removed.
    const items = lines.map((line) => {
      if (line === null || FENCE.test(line)) return "";
      return ENTRY.test(line) ? `- ${line.replace(/^\s*[-*•]\s+/, "")}` : line;
    });
    for (const { line, text, headings } of splitBlocks(items)) {
      const [first = "", ...rest] = text.split("\n");
      const [, date, content] = ENTRY.exec(first) ?? [];
      yield {
        at: placeIn(source, `line ${line}`),
        memory: {
          content: content === undefined ? text : [content, ...rest].join("\n"),
          subject: subjectOf(headings),
          tags: headings.slice(-1),
          createdAt: date !== undefined && /\d/.test(date) ? date : undefined,
        },
      };
    }
  },
};
