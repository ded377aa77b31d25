import { type Static, Type } from "@sinclair/typebox";
import { unitsOf } from "../code-points.ts";
import type { FoundMemory, Matched } from "../memories/found-memory.ts";
import { edgeAfter, edgeBefore } from "../memories/matched/edges.ts";
import type { Memory, MemorySource } from "../memories/memory.ts";

/**
 * What is published of a memory in a result; there may be more fields, as a memory has. To cost few
 * tokens, what is empty or says nothing new is left out.
 */
export const PublishedEntry = Type.Object({
  id: Type.String(),
  content: Type.String(),
  score: Type.Optional(Type.Number()),
});

/** A memory in a result. */
export interface Entry
  extends Static<typeof PublishedEntry>,
    Partial<Pick<Memory, "tags" | "metadata" | "updated_at" | "pinned">>,
    Pick<Memory, "importance" | "created_at"> {
  agent_id?: string;
  session_id?: string;
  project?: string;
  supersedes?: string;
  expires_at?: string;
  /** Id of the newest memory that was found of the same fact. */
  newer?: string;
  source?: Pick<MemorySource, "via" | "by">;
  /** Whether `content` is only a part. */
  cut?: true;
}

/** A memory as a result shows it. */
export function toEntry(memory: Memory | FoundMemory): Entry {
  return {
    id: memory.id,
    content: memory.content,
    ...("score" in memory && { score: Math.round(memory.score * 1000) / 1000 }),
    ...("newer" in memory && memory.newer !== undefined && { newer: memory.newer }),
    ...(memory.tags.length > 0 && { tags: memory.tags }),
    ...(memory.agent_id !== null && { agent_id: memory.agent_id }),
    ...(memory.session_id !== null && { session_id: memory.session_id }),
    ...(memory.project !== null && { project: memory.project }),
    importance: memory.importance,
    ...(memory.pinned && { pinned: true }),
    ...(memory.supersedes !== null && { supersedes: memory.supersedes }),
    // Ids of credentials are nothing to a model, and long.
    ...(memory.source && { source: { via: memory.source.via, by: memory.source.by } }),
    created_at: memory.created_at,
    ...(memory.updated_at !== memory.created_at && { updated_at: memory.updated_at }),
    ...(memory.expires_at !== null && { expires_at: memory.expires_at }),
  };
}

/** An entry as a model reads it: a line about it, then its text. */
export function describeEntry(entry: Entry): string {
  const facts = [
    entry.id,
    entry.score !== undefined && `score ${entry.score.toFixed(2)}`,
    entry.newer && `there is a newer one: ${entry.newer}`,
    formatDate(entry.created_at),
    entry.updated_at && `changed ${formatDate(entry.updated_at)}`,
    entry.importance !== 0.5 && `importance ${entry.importance}`,
    entry.tags && `tags: ${entry.tags.join(", ")}`,
    entry.agent_id && `agent: ${entry.agent_id}`,
    entry.session_id && `session: ${entry.session_id}`,
    entry.project && `project: ${entry.project}`,
    entry.pinned && "pinned",
    entry.expires_at && `expires ${formatDate(entry.expires_at)}`,
    entry.supersedes && `supersedes ${entry.supersedes}`,
    entry.source && `by ${entry.source.by}`,
  ].filter((fact) => typeof fact === "string");
  return `${facts.join(" · ")}\n${entry.content}`;
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
