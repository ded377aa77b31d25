import type { Reach } from "../../../keys/reach.ts";
import { excerptOf } from "../../../text/excerpt.ts";
import { createPause } from "../../../timing/pause.ts";
import { type Filter, passes, wasCaptured } from "../../model/filter.ts";
import {
  type AboutMemory,
  FOUND_BY,
  type FoundAbout,
  type FoundBy,
} from "../../model/forgetting.ts";
import { readable } from "../../model/reach.ts";
import type { MemoryRow } from "../../model/rows.ts";
import { linksOf } from "../../table/links.ts";
import type { MemoryTable } from "../../table/table.ts";
import type { Reading } from "../reading.ts";
import { findInOrder, type Parts } from "../visible.ts";
import { type Mention, readSubject, type Subject } from "./mentions.ts";

/** The most memories of an answer. */
const MAX_ABOUT = 1_000;
/** Results of the search by meaning. */
const MAX_LIKELY = 100;
/** Sessions of an answer: those with the most other memories. */
const MAX_SESSIONS = 100;
/** Memories that are read at once. */
const BATCH = 100;
/** Characters of an excerpt. */
const EXCERPT = 250;

/** What one look at all memories of a table has found. */
interface Look {
  /** The ids, each with the memory's session. */
  named: Map<string, string | null>;
  fields: Set<string>;
  perhaps: Set<string>;
  /** The number of memories in each session. */
  sessions: Map<string, number>;
}

/**
 * Returns a function that finds what is kept about a person or a subject, among captured and superseded memories too. It
 * reads every text: an index of the best results would not do, since forgetting means all.
 */
export function createAbout({ store, clock, search }: Parts & Pick<Reading, "search">) {
  return async (reach: Reach, query: string): Promise<FoundAbout> => {
    const subject = readSubject(query);
    const filter = readable(reach, { aliveAt: clock() });
    const near = await search(reach, {
      ...{ query, limit: MAX_LIKELY, filter: {}, known: true },
      ...{ merges: false, decay: false, versions: false },
    });
    return await store.use(reach.accountId, async ({ table }) => {
      const look = await lookThrough(table, filter, subject);
      for (const { id } of near.memories) look.perhaps.add(id);
      const kinds = sortByKind({
        text: look.named.keys(),
        fields: look.fields,
        version: await versionsOf(table, filter, look.named),
        perhaps: look.perhaps,
      });
      const memories: AboutMemory[] = [];
      for await (const rows of batchesOf(table, [...kinds.keys()].slice(0, MAX_ABOUT))) {
        for (const row of rows) {
          if (passes(filter, row)) memories.push(toAbout(row, kinds.get(row.id) ?? "perhaps"));
        }
      }
      return {
        memories,
        more: Math.max(0, kinds.size - MAX_ABOUT),
        sessions: sessionsOf(look),
        spaces: [],
      };
    });
  };
}

/** How each memory was found, in the order of the answer: by kind, the newest first. */
function sortByKind(ids: Record<FoundBy, Iterable<string>>): Map<string, FoundBy> {
  const kinds = new Map<string, FoundBy>();
  for (const kind of FOUND_BY) {
    for (const id of [...ids[kind]].sort().reverse()) if (!kinds.has(id)) kinds.set(id, kind);
  }
  return kinds;
}

/** Reads memories by id, in the order of the ids. */
async function* batchesOf(table: MemoryTable, ids: readonly string[], pause = createPause()) {
  for (let at = 0; at < ids.length; at += BATCH) {
    await pause();
    yield await findInOrder(table, ids.slice(at, at + BATCH));
  }
}

/** Reads all memories of a table. */
async function lookThrough(table: MemoryTable, filter: Filter, subject: Subject): Promise<Look> {
  const look: Look = {
    named: new Map(),
    fields: new Set(),
    perhaps: new Set(),
    sessions: new Map(),
  };
  /** Memories that have the name in small letters only. */
  const small: Look["named"] = new Map();
  const cases = { capital: 0, small: 0 };
  const pause = createPause();
  for await (const rows of table.rows()) {
    for (const row of rows.filter((row) => passes(filter, row))) {
      await pause();
      const { id, sessionId } = row;
      countIn(look.sessions, sessionId);
      const inText = subject.find(row.content, false);
      const kind = kindOf(row, subject, inText);
      if (kind === "named") look.named.set(id, sessionId);
      else if (kind === "small") small.set(id, sessionId);
      else if (kind !== null) look[kind].add(id);
      if (inText !== null && subject.isName) {
        const counted = subject.countCases(row.content);
        cases.capital += counted.capital;
        cases.small += counted.small;
      }
    }
  }
  // A name that is mostly written in small letters is a word too, such as `rose` or `mark`.
  const isWord = cases.small > cases.capital;
  for (const [id, sessionId] of small) {
    if (isWord) look.perhaps.add(id);
    else look.named.set(id, sessionId);
  }
  return look;
}

/** How a memory has the subject; `small` in small letters only. Null if it does not. */
function kindOf(
  row: MemoryRow,
  subject: Subject,
  inText: Mention | null,
): "named" | "small" | "fields" | "perhaps" | null {
  if (inText === "named") return "named";
  if (subject.isName && subject.find(row.content) === "named") return "small";
  const inFields = fieldsOf(row).map((text) => subject.find(text));
  if (inFields.includes("named")) return "fields";
  return inText !== null || inFields.includes("perhaps") ? "perhaps" : null;
}

/** The texts of a memory besides its content. */
function fieldsOf({ tags, agentId, sessionId, project, metadata }: MemoryRow): string[] {
  return [...tags, agentId, sessionId, project, metadata === "{}" ? null : metadata].filter(
    (text): text is string => typeof text === "string",
  );
}

/** The memories that supersede others, or that these supersede, without themselves. */
async function versionsOf(
  table: MemoryTable,
  filter: Filter,
  named: Look["named"],
): Promise<Set<string>> {
  const versions = new Set<string>();
  const seen = new Set(named.keys());
  const pause = createPause();
  let next = [...seen];
  while (next.length > 0) {
    const linked = new Set<string>();
    for await (const rows of batchesOf(table, next, pause)) {
      for (const row of rows) {
        if (!named.has(row.id) && passes(filter, row)) versions.add(row.id);
        for (const id of linksOf(row)) linked.add(id);
      }
    }
    next = [...linked].filter((id) => !seen.has(id));
    for (const id of next) seen.add(id);
  }
  return versions;
}

function countIn(sessions: Map<string, number>, sessionId: string | null): void {
  if (sessionId !== null) sessions.set(sessionId, (sessions.get(sessionId) ?? 0) + 1);
}

/** How many other memories are in the sessions of those that name the subject. */
function sessionsOf({ named, sessions }: Look): FoundAbout["sessions"] {
  const own = new Map<string, number>();
  for (const sessionId of named.values()) countIn(own, sessionId);
  return [...own]
    .map(([session_id, count]) => ({ session_id, others: (sessions.get(session_id) ?? 0) - count }))
    .filter(({ others }) => others > 0)
    .sort((a, b) => b.others - a.others)
    .slice(0, MAX_SESSIONS);
}

function toAbout(row: MemoryRow, foundBy: FoundBy): AboutMemory {
  return {
    id: row.id,
    found_by: foundBy,
    excerpt: excerptOf(row.content, EXCERPT),
    created_at: new Date(row.createdAt).toISOString(),
    project: row.project,
    captured: wasCaptured(row),
    superseded: row.supersededBy !== null,
  };
}
