import { edgeAfter, edgeBefore } from "../memories/matched/boundaries.ts";
import type { FoundMemory, Matched } from "../memories/model/found-memory.ts";
import type { Memory } from "../memories/model/memory.ts";
import { unitsOf } from "../text/code-points.ts";
import { indent, showHidden } from "../text/plain-text.ts";
import { formatDate } from "../text/short-text.ts";

/** A memory as a result shows it. */
export interface ShownMemory {
  memory: Memory | FoundMemory;
  /** The part of its text that is shown. */
  content: string;
  /** Whether text is missing. */
  isCut: boolean;
}

/** A memory with its whole text. */
export function wholeMemory(memory: Memory | FoundMemory): ShownMemory {
  return { memory, content: memory.content, isCut: false };
}

/** A label among the facts of a memory, quoted if it could be taken for several facts. */
function labelText(label: string): string {
  const shown = showHidden(label);
  return shown.includes("·") ? JSON.stringify(shown) : shown;
}

/**
 * A memory as a model reads it: one line of facts, then its indented text, which can't pass for another
 * memory. To save tokens, empty fields and default values are left out.
 */
export function describeMemory({ memory, content }: ShownMemory): string {
  const { source, updated_at, importance, pinned } = memory;
  const facts = [
    memory.id,
    "score" in memory && `score ${memory.score.toFixed(2)}`,
    "newer" in memory && memory.newer && `there is a newer one: ${memory.newer}`,
    "replaces" in memory && memory.replaces && `replaces ${memory.replaces.join(", ")}`,
    "alike" in memory && memory.alike && `and ${memory.alike.length} more like it`,
    memory.superseded_by && `superseded by ${memory.superseded_by}`,
    formatDate(memory.created_at),
    updated_at !== memory.created_at && `changed ${formatDate(updated_at)}`,
    importance !== 0.5 && `importance ${importance}`,
    memory.tags.length > 0 && `tags: ${memory.tags.map(labelText).join(", ")}`,
    memory.agent_id && `agent: ${labelText(memory.agent_id)}`,
    memory.session_id && `session: ${labelText(memory.session_id)}`,
    memory.project && `project: ${labelText(memory.project)}`,
    pinned && "pinned",
    memory.expires_at && `expires ${formatDate(memory.expires_at)}`,
    memory.supersedes && `supersedes ${memory.supersedes}`,
    // The ids of credentials are long and mean nothing to a model.
    source && `${source.via === "capture" ? "captured " : ""}by ${labelText(source.by)}`,
  ].filter((fact) => typeof fact === "string");
  return `${facts.join(" · ")}\n${indent(content)}`;
}

/** The part of a text around a passage, with `…` where text is left out. At most `length` characters. */
export function excerptAround(content: string, passage: Matched, length: number): string {
  const found = unitsOf(content)(passage.start);
  const window = Math.max(0, length - 2);
  const needed = Math.min(passage.text.length, window);
  // A third of the context precedes the passage, the rest follows. Near an end of the text, the other
  // side gets more.
  const before = Math.floor((window - needed) / 3);
  const earliest = Math.max(0, Math.min(found - before, content.length - window));
  const start = edgeAfter(content, earliest, found);
  const latest = Math.min(content.length, start + window);
  const end = edgeBefore(content, latest, Math.min(latest, found + needed));
  return `${start > 0 ? "…" : ""}${content.slice(start, end)}${end < content.length ? "…" : ""}`;
}
