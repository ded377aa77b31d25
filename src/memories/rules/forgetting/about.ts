import type { Reach } from "../../../keys/reach.ts";
import { excerptOf } from "../../../text/excerpt.ts";
import { createPause } from "../../../timing/pause.ts";
import { type Filter, passes, wasCaptured } from "../../model/filter.ts";
import type { AboutMemory, FoundAbout, FoundBy } from "../../model/forgetting.ts";
import { readable } from "../../model/reach.ts";
import type { MemoryRow } from "../../model/rows.ts";
import { linksOf } from "../../table/links.ts";
import type { MemoryTable } from "../../table/table.ts";
import type { Reading } from "../reading.ts";
import type { Parts } from "../visible.ts";
import { type Mention, readSubject, type Subject } from "./mentions.ts";

/** The most memories of an answer. */
const MAX_ABOUT = 1_000;
/** Results of the search by meaning. */
const MAX_LIKELY = 100;
/** Characters of an excerpt. */
const EXCERPT = 250;

/** In this order memories are returned. */
const ORDER: readonly FoundBy[] = ["text", "fields", "version", "perhaps"];

/** What one look at all memories of a table has found. */
interface Look {
  named: Set<string>;
  fields: Set<string>;
  perhaps: Set<string>;
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
      const versions = await versionsOf(table, look.named);
      const kinds = new Map<string, FoundBy>();
      for (const id of look.perhaps) kinds.set(id, "perhaps");
      for (const id of versions) kinds.set(id, "version");
      for (const id of look.fields) kinds.set(id, "fields");
      for (const id of look.named) kinds.set(id, "text");
      const rows = (await table.find([...kinds.keys()])).filter((row) => passes(filter, row));
      const found = rows
        .map((row) => toAbout(row, kinds.get(row.id) ?? "perhaps"))
        .sort(
          (a, b) => ORDER.indexOf(a.found_by) - ORDER.indexOf(b.found_by) || (a.id < b.id ? 1 : -1),
        );
      return {
        memories: found.slice(0, MAX_ABOUT),
        more: Math.max(0, found.length - MAX_ABOUT),
        sessions: await sessionsOf(table, filter, rows, look.named),
        spaces: [],
      };
    });
  };
}

/** Reads all memories of a table. */
async function lookThrough(table: MemoryTable, filter: Filter, subject: Subject): Promise<Look> {
  const look: Look = { named: new Set(), fields: new Set(), perhaps: new Set() };
  /** Memories that have the name in small letters only. */
  const small = new Set<string>();
  const cases = { capital: 0, small: 0 };
  const pause = createPause();
  for await (const rows of table.rows()) {
    for (const row of rows) {
      await pause();
      if (!passes(filter, row)) continue;
      const inText = subject.find(row.content, false);
      if (inText === "named") look.named.add(row.id);
      else if (subject.isName && subject.find(row.content) === "named") small.add(row.id);
      else
        add(
          look,
          row.id,
          inText,
          fieldsOf(row).map((text) => subject.find(text)),
        );
      if (inText !== null && subject.isName) {
        const counted = subject.countCases(row.content);
        cases.capital += counted.capital;
        cases.small += counted.small;
      }
    }
  }
  // A name that is mostly written in small letters is a word too, such as `rose` or `mark`.
  const isWord = cases.small > cases.capital;
  for (const id of small) (isWord ? look.perhaps : look.named).add(id);
  return look;
}

function add(look: Look, id: string, inText: Mention | null, inFields: (Mention | null)[]): void {
  if (inFields.includes("named")) look.fields.add(id);
  else if (inText !== null || inFields.includes("perhaps")) look.perhaps.add(id);
}

/** The texts of a memory besides its content. */
function fieldsOf({ tags, agentId, sessionId, project, metadata }: MemoryRow): string[] {
  return [...tags, agentId, sessionId, project, metadata === "{}" ? null : metadata].filter(
    (text): text is string => typeof text === "string",
  );
}

/** The memories that supersede others, or that these supersede, without themselves. */
async function versionsOf(table: MemoryTable, ids: ReadonlySet<string>): Promise<Set<string>> {
  const versions = new Set<string>();
  let next = [...ids];
  while (next.length > 0) {
    const linked = (await table.find(next)).flatMap(linksOf);
    next = [...new Set(linked)].filter((id) => !ids.has(id) && !versions.has(id));
    for (const id of next) versions.add(id);
  }
  return versions;
}

/** How many other memories are in the sessions of those that name the subject. */
async function sessionsOf(
  table: MemoryTable,
  filter: Filter,
  rows: readonly MemoryRow[],
  named: ReadonlySet<string>,
): Promise<FoundAbout["sessions"]> {
  const sessions = new Map<string, number>();
  for (const { id, sessionId } of rows) {
    if (sessionId !== null && named.has(id)) {
      sessions.set(sessionId, (sessions.get(sessionId) ?? 0) + 1);
    }
  }
  const counts: FoundAbout["sessions"] = [];
  for (const [sessionId, own] of sessions) {
    const others = (await table.count({ ...filter, sessionId })) - own;
    if (others > 0) counts.push({ session_id: sessionId, others });
  }
  return counts.sort((a, b) => b.others - a.others).slice(0, MAX_LIKELY);
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
