import type { Format, Found } from "./format.ts";
import { readEntries } from "./json-document.ts";
import { isObject } from "./json-objects.ts";
import { splitBlocks, subjectOf } from "./markdown.ts";

/**
 * `memories.json` of Claude's data export: a list with one object per account, with
 * `conversations_memory` (Markdown) and `project_memories` (Markdown by project). Source: exports of
 * 2026 (https://portable-ai-memory.org/providers/anthropic); Anthropic does not document the format.
 */
export const claudeExport: Format = {
  name: "the memories of Claude's data export",
  origin: "claude",
  recognises: (head) =>
    /^\s*\[/.test(head) && /"(conversations_memory|project_memories)"\s*:/.test(head),
  read: (source, { projects: names }) =>
    readEntries(source, function* (entry, at): Iterable<Found> {
      if (!isObject(entry)) {
        yield { at, problem: "has no memories" };
        return;
      }
      const projects = isObject(entry.project_memories)
        ? Object.entries(entry.project_memories)
        : [];
      yield* readMarkdown(entry.conversations_memory, at, undefined, names);
      for (const [project, text] of projects) yield* readMarkdown(text, at, project, names);
    }),
};

/** A bold line, which Claude uses as a heading. */
const BOLD = /^\*\*([^*]+)\*\*$/;

function* readMarkdown(
  text: unknown,
  at: string,
  project: string | undefined,
  names: ReadonlyMap<string, string>,
): Iterable<Found> {
  if (text === undefined || text === null) return;
  if (typeof text !== "string") {
    yield { at, problem: "has a memory that is not text" };
    return;
  }
  const lines = text.split(/\r?\n/).map((line) => line.replace(BOLD, "# $1"));
  for (const block of splitBlocks(lines)) {
    yield {
      at,
      memory: {
        content: block.text,
        subject: subjectOf(block.headings),
        tags: block.headings.slice(-1),
        metadata: { project },
        ...(project !== undefined && { project: names.get(project) }),
        key: JSON.stringify([project ?? null, block.text]),
      },
    };
  }
}
