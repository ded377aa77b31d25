import type { MemoryRow } from "../../model/rows.ts";
import type { FactMemory } from "../fact-text.ts";

/** A result, which may supersede another one. */
interface Superseding {
  memory: Pick<MemoryRow, "id"> & Partial<Pick<MemoryRow, "supersedes">>;
}

/** A history, identified by its oldest result, and the place of a result in it: 0 for the oldest. */
export interface PlaceInHistory {
  first: string;
  place: number;
}

/** The places of results in histories, if any of the results supersedes another. */
export function placesInHistories(found: readonly Superseding[]): Map<string, PlaceInHistory> {
  const superseded = new Map<string, string>();
  const ids = new Set(found.map(({ memory }) => memory.id));
  for (const { memory } of found) {
    if (memory.supersedes && ids.has(memory.supersedes))
      superseded.set(memory.id, memory.supersedes);
  }
  const places = new Map<string, PlaceInHistory>();
  for (const id of superseded.size > 0 ? ids : []) {
    let [first, place] = [id, 0];
    for (let older = superseded.get(id); older && place < found.length; place++) {
      first = older;
      older = superseded.get(older);
    }
    places.set(id, { first, place });
  }
  return places;
}

/** Negative when the first is the older one of a common history, 0 without a common history. */
export function inHistory(
  places: ReadonlyMap<string, PlaceInHistory>,
  { memory: a }: Superseding,
  { memory: b }: Superseding,
): number {
  const [one, other] = [places.get(a.id), places.get(b.id)];
  return one && other && one.first === other.first ? one.place - other.place : 0;
}

/** A memory with what it says and when. */
interface Dated {
  memory: FactMemory;
}

export function byTime({ memory: a }: Dated, { memory: b }: Dated): number {
  return a.createdAt - b.createdAt;
}

/** The older one of two memories, and the newer one. */
export function inTime(a: Dated, b: Dated): [FactMemory, FactMemory] {
  return byTime(a, b) < 0 ? [a.memory, b.memory] : [b.memory, a.memory];
}
