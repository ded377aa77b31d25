import { unitsOf } from "../code-points.ts";
import type { FoundMemory, Matched } from "../memories/found-memory.ts";
import { edgeAfter, edgeBefore } from "../memories/matched/edges.ts";
import type { Memory } from "../memories/memory.ts";

/** A memory in a result. */
export interface ShownMemory {
  memory: Memory | FoundMemory;
  /** Of its text what is shown. */
  content: string;
  /** Whether that is only a part. */
  isCut: boolean;
}

/** A memory with all of its text. */
export function wholeMemory(memory: Memory | FoundMemory): ShownMemory {
  return { memory, content: memory.content, isCut: false };
}

/**
 * An entry as a model reads it: a line about it, then its text. To cost few tokens, what is empty or
 * says nothing new is left out.
 */
export function describeMemory({ memory, content }: ShownMemory): string {
  const { source, updated_at, importance, pinned } = memory;
  const facts = [
    memory.id,
    "score" in memory && `score ${memory.score.toFixed(2)}`,
    "newer" in memory && memory.newer && `there is a newer one: ${memory.newer}`,
    memory.superseded_by && `superseded by ${memory.superseded_by}`,
    formatDate(memory.created_at),
    updated_at !== memory.created_at && `changed ${formatDate(updated_at)}`,
    importance !== 0.5 && `importance ${importance}`,
    memory.tags.length > 0 && `tags: ${memory.tags.join(", ")}`,
    memory.agent_id && `agent: ${memory.agent_id}`,
    memory.session_id && `session: ${memory.session_id}`,
    memory.project && `project: ${memory.project}`,
    pinned && "pinned",
    memory.expires_at && `expires ${formatDate(memory.expires_at)}`,
    memory.supersedes && `supersedes ${memory.supersedes}`,
    // Ids of credentials are nothing to a model, and long.
    source && `${source.via === "capture" ? "captured " : ""}by ${source.by}`,
  ].filter((fact) => typeof fact === "string");
  return `${facts.join(" · ")}\n${content}`;
}

const DATE = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});

/** A moment as people write its day: `21 Nov 2026`, in UTC. */
export function formatDate(instant: string): string {
  return DATE.format(new Date(instant));
}

/** The first line of a text, for lists and links. */
export function titleOf(content: string): string {
  const line = content.trim().split("\n", 1)[0]?.trim() ?? "";
  return line.length <= 80 ? line : `${excerpt(line, 79)}`;
}

/** A part of a text around a passage of it, with signs where there is more. */
export function excerptAround(content: string, passage: Matched, length: number): string {
  const found = unitsOf(content)(passage.start);
  const room = Math.max(0, length - 2);
  const most = Math.min(passage.text.length, room);
  // A third of the context before, the rest after; and what one side does not need for the other.
  const before = Math.floor((room - most) / 3);
  const last = Math.max(0, Math.min(found - before, content.length - room));
  const start = edgeAfter(content, last, found);
  const wanted = Math.min(content.length, start + room);
  const end = edgeBefore(content, wanted, Math.min(wanted, found + most));
  return `${start > 0 ? "…" : ""}${content.slice(start, end)}${end < content.length ? "…" : ""}`;
}

/** The beginning of a text, with a sign that there is more; never half a character. */
export function excerpt(content: string, length: number): string {
  const start = content.slice(0, Math.max(0, length - 1));
  return `${start.isWellFormed() ? start : start.slice(0, -1)}…`;
}
