import { AppError, invalidField } from "../../../errors.ts";
import type { Reach } from "../../../keys/reach.ts";
import { hashOf } from "../../../system/file-digest.ts";
import { createPause } from "../../../timing/pause.ts";
import { compareIn, type Filter, type PageStart, passes } from "../../model/filter.ts";
import { MEMORY_ID } from "../../model/memory.ts";
import { writable } from "../../model/reach.ts";
import type { MemoryRow } from "../../model/rows.ts";
import type { OpenTable } from "../../store/pooled-table.ts";
import type { MemoryTable } from "../../table/table.ts";
import { findInOrder } from "../visible.ts";
import type { createCensus } from "./census.ts";
import { contradictionGroups, pairsOf, restatementGroups } from "./likeness-groups.ts";
import { TIDY_KINDS, type TidyKind } from "./report.ts";

const DAY = 86_400_000;
/** Milliseconds in which a memory was not found, and within which it expires, to be listed. */
const NEVER_FOUND_MS = 180 * DAY;
const EXPIRING_MS = 7 * DAY;
/** Milliseconds for which counting waits for the search for secrets. */
const WAIT_FOR_SECRETS_MS = 100;
/** Memories of likenesses that are read at once. */
const READ_AT_ONCE = 1_000;

const newestFirst = compareIn("newest");

/** What tidying asks other parts. */
export interface TidySources {
  /** Those ids of keys and grants that were revoked. */
  revoked(ids: readonly string[]): Promise<readonly string[]>;
  /**
   * Ids of unpinned memories that are older than a time (milliseconds since 1970) and that nothing has used since; null if
   * that is not known.
   */
  neverFound(accountId: string, before: number): Promise<string[] | null>;
}

/** The groups of a kind, as lists of memories. */
export interface Listing {
  /** `null` if it is not known yet. */
  count(): Promise<number | null>;
  /** The groups after a position, newest first. */
  page(from: PageStart | null, limit: number): Promise<MemoryRow[][]>;
  /** The group whose first memory has this id. */
  find(id: string): Promise<MemoryRow[] | null>;
}

/** Each memory that matches a filter is a group. */
function singles(table: MemoryTable, filter: Filter): Listing {
  return {
    count: () => table.count(filter),
    async page(from, limit) {
      const ids = await table.list(filter, from, limit);
      return (await findInOrder(table, ids)).map((row) => [row]);
    },
    async find(id) {
      const [row] = await table.find([id]);
      return row && passes(filter, row) ? [row] : null;
    },
  };
}

function several(groups: readonly MemoryRow[][]): Listing {
  const startsWith = (id: string) => (group: MemoryRow[]) => group[0]?.id === id;
  return {
    count: async () => groups.length,
    async page(from, limit) {
      const isAfter = ([first]: MemoryRow[]) => !from || (first && newestFirst(from, first) < 0);
      return groups.filter(isAfter).slice(0, limit);
    },
    find: async (id) => groups.find(startsWith(id)) ?? null,
  };
}

interface Asked {
  open: OpenTable;
  reach: Reach;
  now: number;
  sources: TidySources;
  /** Ids of memories that a pending change hides. */
  except: readonly string[];
  census: (table: MemoryTable, now: number) => ReturnType<ReturnType<typeof createCensus>>;
  withSecrets: (reach: Reach) => Promise<string[]>;
}

/** The likenesses of a table whose memories may be tidied, and these memories. */
async function readPairs({ open: { table, likenesses }, reach, now, except }: Asked) {
  const all = (await likenesses.all()) ?? [];
  const holds = writable(reach, { isCurrent: true, isCaptured: false, aliveAt: now });
  const hidden = new Set(except);
  const ids = [...new Set(all.flatMap(({ later, earlier }) => [later, earlier]))];
  const rows = new Map<string, MemoryRow>();
  const pause = createPause();
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    await pause();
    for (const row of await table.find(ids.slice(at, at + READ_AT_ONCE))) {
      if (passes(holds, row) && !hidden.has(row.id)) rows.set(row.id, row);
    }
  }
  return { all, rows };
}

/** The groups of each kind, read when they are first asked for. */
export function createListings(asked: Asked): Record<TidyKind, () => Promise<Listing>> {
  const { open, reach, now, sources, except, census, withSecrets } = asked;
  const { table } = open;
  const filterOf = (filter: Filter) => writable(reach, { ...filter, aliveAt: now, except });
  const single = (filter: Filter) => singles(table, filterOf(filter));
  let pairs: ReturnType<typeof readPairs> | null = null;
  const like = async (kind: "same" | "changed") => {
    pairs ??= readPairs(asked);
    const { all, rows } = await pairs;
    return pairsOf(all, kind, rows);
  };

  return {
    restatements: async () => several(await restatementGroups(await like("same"))),
    contradictions: async () => several(await contradictionGroups(await like("changed"))),
    async never_found() {
      const only = await sources.neverFound(reach.accountId, now - NEVER_FOUND_MS);
      if (!only) return { ...several([]), count: async () => null };
      // What expires anyway needs no decision.
      const ending = await table.select({ only, expiresBefore: Number.MAX_SAFE_INTEGER });
      const kept = [...new Set(only).difference(new Set(ending))];
      return single({ only: kept, isCurrent: true, isCaptured: false });
    },
    expiring: async () =>
      single({ expiresBefore: now + EXPIRING_MS, isCurrent: true, isCaptured: false }),
    async secrets() {
      const ids = withSecrets(reach);
      const listed = async () => single({ only: await ids });
      return {
        count: () =>
          Promise.race([
            listed().then((listing) => listing.count()),
            Bun.sleep(WAIT_FOR_SECRETS_MS).then(() => null),
          ]),
        page: async (...page) => (await listed()).page(...page),
        find: async (id) => (await listed()).find(id),
      };
    },
    async revoked() {
      const { sourceIds } = await census(table, now);
      const ids: string[] = [];
      for (const sourceId of await sources.revoked(sourceIds)) {
        ids.push(...(await table.select({ sourceId })));
      }
      return single({ only: ids });
    },
    async small_projects() {
      // A caller that is bound to a project can't merge it into another one.
      const { lone } = reach.bound ? { lone: [] } : await census(table, now);
      return single({ only: lone, isPinned: false });
    },
  };
}

/** The id of a group: it names the group's first memory, and differs after a change of any. */
export function groupId(kind: TidyKind, rows: readonly MemoryRow[]): string {
  const state = rows.map(({ id, updatedAt, project }) => [id, updatedAt, project]);
  return `${kind}.${rows[0]?.id}.${hashOf(JSON.stringify([kind, state])).slice(0, 12)}`;
}

/** The kind and the first memory of a group's id. @throws AppError `conflict` for a text that is no such id */
export function readGroupId(id: string): { kind: TidyKind; first: string } {
  const [name, first = "", ...rest] = id.split(".");
  const kind = TIDY_KINDS.find((each) => each === name);
  if (!kind || !MEMORY_ID.test(first) || rest.length !== 1) throw groupsHaveChanged();
  return { kind, first };
}

export function groupsHaveChanged(): AppError {
  return new AppError(
    "conflict",
    "Some of these groups have changed since they were read. Read them again, then decide.",
  );
}

export function encodeTidyCursor(kind: TidyKind, { createdAt, id }: MemoryRow): string {
  return Buffer.from([kind, createdAt, id].join(" ")).toString("base64url");
}

/** @throws AppError `validation_failed` for a text that `encodeTidyCursor` did not return */
export function decodeTidyCursor(cursor: string): { kind: TidyKind; from: PageStart } {
  const [name, time = "", id = "", ...rest] = Buffer.from(cursor, "base64url")
    .toString()
    .split(" ");
  const kind = TIDY_KINDS.find((each) => each === name);
  if (!kind || !/^\d{1,14}$/.test(time) || !MEMORY_ID.test(id) || rest.length > 0) {
    throw invalidField("cursor", "must be a next_cursor that this server returned");
  }
  return { kind, from: { createdAt: Number(time), id } };
}
