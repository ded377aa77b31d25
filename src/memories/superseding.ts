import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import type { Draft } from "./draft.ts";
import { passes } from "./filter.ts";
import { notFound } from "./find-by-id.ts";
import { relink } from "./links.ts";
import { checkMayWrite, readable } from "./reach.ts";
import type { MemoryRow, StoredMemory } from "./rows.ts";

/** Who supersedes what, and where in the request that was said. */
export interface Superseding {
  reach: Reach;
  /** Milliseconds since 1970. */
  now: number;
  path: string;
}

/**
 * The memory that another one is to supersede.
 * @param get memories by their ids
 * @throws AppError `memory_not_found`, `forbidden`, or `conflict` when it has been superseded
 */
export function supersededRow(
  get: (id: string) => MemoryRow | null,
  id: string,
  { reach, now, path }: Superseding,
): MemoryRow {
  const visible = readable(reach, { aliveAt: now });
  const old = get(id);
  if (!old || !passes(visible, old)) throw notFound(id);
  checkMayWrite(reach, old);
  const newer = old.supersededBy === null ? null : get(old.supersededBy);
  // The place of one that has expired is its successor's, or free. One that is not here takes no place.
  const isAlive = newer && passes({ aliveAt: now }, newer);
  if (newer && (isAlive || newer.supersededBy !== null)) {
    throw isSuperseded(passes(visible, newer) ? newer.id : null, path);
  }
  return old;
}

/** @param newer the id of what has taken its place, if that may be told */
function isSuperseded(newer: string | null, path: string) {
  const by = newer === null ? "has been superseded" : `has been superseded by ${newer}`;
  const what = newer === null ? "what holds now" : "that one, or what its history begins with";
  return new AppError("conflict", `The memory ${by}: supersede ${what}.`, {
    details: [{ path: `/${path}`, message: by }],
  });
}

/**
 * Saves a memory in a draft. What it supersedes was read with what is next to it.
 * @param hasProject whether it says what it belongs to; otherwise that is what it was before
 */
export function putNew(
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
 * Tells before the work is done in vain what can't be superseded.
 * @param ids what each of the memories to save supersedes
 * @throws AppError as `supersededRow`, or `validation_failed` for one that two would supersede
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
      const message = "must not be the same as that of another one";
      throw new AppError("validation_failed", `${path} ${message}.`, {
        details: [{ path: `/${path}`, message }],
      });
    }
    supersededRow((each) => rows.get(each) ?? null, id, { ...superseding, path });
  }
}
