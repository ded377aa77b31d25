import { ImportedMemory } from "../../memories/model/memory.ts";
import { readText } from "../files/input-file.ts";
import { readEntries } from "../files/json-document.ts";
import { isLineList, splitBlocks, subjectOf } from "../files/markdown.ts";
import { locationIn, objectsOf, readTextLines } from "../files/source.ts";
import type { Format } from "./format.ts";
import { readMemory } from "./memory-servers.ts";

/** A JSON list, or an object with one, of texts or of objects with a `content` or a `text`. */
export const jsonList: Format = {
  name: "a list in JSON",
  origin: "json",
  recognises: (head) =>
    /^\s*\[\s*"/.test(head) || (/^\s*[[{]/.test(head) && /"(content|text)"\s*:\s*"/.test(head)),
  read: (source) =>
    readEntries(source, (entry) =>
      typeof entry === "string" ? [{ memory: { content: entry } }] : readMemory(entry),
    ),
};

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
      yield { at: locationIn(source, `line ${line}`), memory };
    }
  },
};

/** Bytes of a line, the limit of `POST /api/memories/import`. */
const MAX_LINE_BYTES = 1 << 20;

const FIELDS = new Set(Object.keys(ImportedMemory.properties));

/** The output of `ctxd export` and `GET /api/memories/export`. The server checks the lines. */
export const ownExport: Format = {
  name: "an export of ctxd",
  origin: "ctxd",
  recognises: (head) =>
    objectsOf(head).some(
      (value) =>
        typeof value.content === "string" && Object.keys(value).every((key) => FIELDS.has(key)),
    ),
  async *read(source) {
    for await (const line of readTextLines(source, MAX_LINE_BYTES)) {
      const at = locationIn(source, `line ${line.number}`);
      if ("problem" in line) yield { at, problem: line.problem };
      else if (line.text.trim() !== "") yield { at, line: line.text };
    }
  },
};

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
        at: locationIn(source, `line ${line}`),
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
