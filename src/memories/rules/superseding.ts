import { AppError, invalidField } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import { passes } from "../model/filter.ts";
import { LIMITS } from "../model/memory.ts";
import { checkMayWrite, readable } from "../model/reach.ts";
import type { MemoryRow, StoredMemory } from "../model/rows.ts";
import type { Draft } from "../table/draft.ts";
import { historyOf, relink } from "../table/links.ts";
import { notFound } from "./visible.ts";

/** Who supersedes a memory, and the path of `supersedes` in the request. */
interface Superseding {
  reach: Reach;
  /** Milliseconds since 1970. */
  now: number;
  path: string;
}

/**
 * The memory that a new one is to supersede.
 * @param get memories by id
 * @throws AppError `memory_not_found`, `forbidden`, or `conflict` when it is superseded already
 */
function supersededRow(
  get: (id: string) => MemoryRow | null,
  id: string,
  { reach, now, path }: Superseding,
): MemoryRow {
  const visible = readable(reach, { aliveAt: now });
  const old = get(id);
  if (!old || !passes(visible, old)) throw notFound(id);
  checkMayWrite(reach, old);
  const newer = old.supersededBy === null ? null : get(old.supersededBy);
  // A newer memory that has expired or is missing does not count, unless it has been superseded itself.
  const isAlive = newer && passes({ aliveAt: now }, newer);
  if (newer && (isAlive || newer.supersededBy !== null)) {
    throw isSuperseded(passes(visible, newer) ? newer.id : null, path);
  }
  return old;
}

/** @param newer id of the newer memory, if the caller may read it */
function isSuperseded(newer: string | null, path: string) {
  const by = newer === null ? "has been superseded" : `has been superseded by ${newer}`;
  const what = newer === null ? "what holds now" : "that one, or what its history begins with";
  return conflict(path, by, `supersede ${what}`);
}

function isTooLong(path: string) {
  const message = `has a history of ${LIMITS.history.toLocaleString("en")} memories, as many as one may have`;
  return conflict(path, message, `save the text without \`${path}\``);
}

function conflict(path: string, message: string, advice: string) {
  const details = [{ path: `/${path}`, message }];
  return new AppError("conflict", `The memory ${message}: ${advice}.`, { details });
}

/**
 * Saves a memory in a draft. The superseded memory must have been read with its linked ones.
 * @param hasProject whether the request names a project; otherwise the superseded memory's is used
 */
export function putSuperseding(
  draft: Draft,
  memory: StoredMemory,
  { hasProject, ...superseding }: Superseding & { hasProject: boolean },
): StoredMemory {
  if (memory.supersedes === null) {
    draft.put(memory);
    return memory;
  }
  const old = supersededRow(draft.get, memory.supersedes, superseding);
  const saved = hasProject ? memory : { ...memory, project: old.project };
  relink(draft, old, { supersededBy: memory.id });
  draft.put(saved);
  return saved;
}

/**
 * Checks before embedding which memories can't be superseded. The commit checks again, but for the length
 * of histories: only one of several writers at once can make a history longer.
 * @param ids of the memories that each new memory supersedes
 * @throws AppError as `supersededRow`, `validation_failed` if two would supersede the same one, or
 *   `conflict` for a history that is as long as it may be
 */
export async function checkSuperseded(
  find: (ids: readonly string[]) => Promise<MemoryRow[]>,
  ids: readonly (string | null | undefined)[],
  superseding: Pick<Superseding, "reach" | "now"> & { pathOf: (place: number) => string },
): Promise<void> {
  const wanted = ids.filter((id) => typeof id === "string");
  if (wanted.length === 0) return;
  const rows = new Map<string, MemoryRow>();
  const add = async (more: readonly string[]) => {
    for (const row of await find(more)) rows.set(row.id, row);
  };
  await add([...new Set(wanted)]);
  await add([...rows.values()].flatMap(({ supersededBy }) => supersededBy ?? []));
  for (const [place, id] of ids.entries()) {
    if (typeof id !== "string") continue;
    const path = superseding.pathOf(place);
    if (ids.indexOf(id) < place) {
      throw invalidField(path, "must not be the same as that of another memory");
    }
    const old = supersededRow((each) => rows.get(each) ?? null, id, { ...superseding, path });
    if (old.supersedes === null) continue;
    const get = async (each: string) => (await find([each]))[0] ?? null;
    if ((await historyOf(get, id)).length >= LIMITS.history) throw isTooLong(path);
  }
}
