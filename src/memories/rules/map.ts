import { LRUCache } from "lru-cache";
import { AppError } from "../../errors.ts";
import type { Reach } from "../../keys/reach.ts";
import { createPause } from "../../timing/pause.ts";
import { createMapDrawing, type Draw } from "../map/draw-in-worker.ts";
import { type Grouping, type Groups, groupsOf } from "../map/groups.ts";
import type { Topics } from "../map/topics.ts";
import { passes } from "../model/filter.ts";
import { readable } from "../model/reach.ts";
import type { MemoryRow } from "../model/rows.ts";
import type { MemoryTable } from "../table/table.ts";

/** Most memories on a map. If there are more, it shows a sample, which stays about the same while their number grows. */
const MAX_ON_MAP = 10_000;
/** Characters at the start of a text from which the words of its topic are taken. */
const TEXT_CHARACTERS = 600;
/** Memories whose vectors are read together. */
const BATCH_SIZE = 200;
/** Factor by which the random sample is larger than needed, so that it is hardly ever too small. */
const SPARE = 1.2;
/** The share of memories that are put between others before all get new places. */
const MAX_ADDED = 0.2;
/** Maps that are kept for one account: of all its memories, and of projects. */
const KEPT = 4;
const ID_PREFIX = "mem_";
const ID_BYTES = 16;
/** The largest coordinate of a place. */
export const FARTHEST = 65_535;

/** Places of memories in a plane, near each other if their meanings are; about 32 bytes for each memory. */
export interface MemoryMap extends Topics {
  /** Differs from that of any other map. */
  version: string;
  /** How many memories there are; more than are on the map where that is a sample. */
  total: number;
  /** The numbers of their ids. */
  ids: Uint8Array<ArrayBuffer>;
  /** x and y of each, from 0 to `FARTHEST`. */
  places: Uint16Array<ArrayBuffer>;
  groups: Record<Grouping, Groups>;
}

/** The id of a memory on a map, by its number there. */
export function idOnMap({ ids }: Pick<MemoryMap, "ids">, number: number): string {
  const own = ids.subarray(number * ID_BYTES, (number + 1) * ID_BYTES);
  return ID_PREFIX + own.toHex();
}

/** A memory that is to be drawn. */
interface Point {
  id: string;
  text: string;
  project: string | null;
  tags: readonly string[];
  agentId: string | null;
}

interface Kept {
  changes: number;
  /** When the first of its memories expires. */
  until: number;
  map: MemoryMap;
  /** Memories that were put between others since all got their places. */
  added: number;
}

/** A map that is being made. */
interface Running {
  began: number;
  map: Promise<MemoryMap>;
  /** How many clients wait for it. */
  waiting: number;
  /** Ends the work. */
  end: AbortController;
}

/** The memories of a table that are drawn. */
type Drawable = Pick<MemoryTable, "changes" | "model" | "rows" | "usage" | "vectorsOf">;

type UseTable = <Result>(task: (table: Drawable) => Promise<Result>) => Promise<Result>;

/**
 * Returns a function that draws a map of all memories in reach, and again only after they have changed. A map
 * shows the memories as they are at the request or later.
 */
export function createMaps({
  clock,
  draw = createMapDrawing(),
  most = MAX_ON_MAP,
}: {
  clock: () => number;
  draw?: Draw;
  most?: number;
}) {
  const kept = new WeakMap<Drawable, LRUCache<string, Kept>>();
  const running = new Map<string, Running>();
  let moment = 0;

  const lookUp = async (table: Drawable, part: string, version: string | null) => {
    const known = kept.get(table)?.get(part);
    const isCurrent = known && known.changes === table.changes && clock() < known.until;
    return known && (isCurrent || known.map.version === version) ? known.map : null;
  };

  const make = async (
    use: UseTable,
    reach: Reach,
    part: string,
    signal: AbortSignal,
  ): Promise<MemoryMap> => {
    // Before and after the drawing, some megabytes are handled at once.
    const pause = createPause();
    // Drawing takes seconds, so the table is released before.
    const { table, changes, until, points, vectors, total } = await use(async (table) => {
      const { changes } = table;
      return { table, changes, ...(await gather(table, reach, { now: clock(), most, signal })) };
    });
    await pause();
    const texts = points.map(({ text }) => text);
    const { dimension } = table.model;
    const former = formerOf(points, kept.get(table)?.get(part));
    const toDraw = { vectors, dimension, texts, former };
    const drawn = points.length > 0 ? await draw(toDraw, signal) : NOTHING;
    await pause();
    const map: MemoryMap = {
      version: Bun.randomUUIDv7(),
      total,
      topics: drawn.topics,
      topicOf: drawn.topicOf,
      ids: Buffer.from(points.map(({ id }) => id.slice(ID_PREFIX.length)).join(""), "hex"),
      places: Uint16Array.from(drawn.places, (place) => Math.round(place * FARTHEST)),
      groups: {
        project: await groupsOf(points.map(({ project }) => (project === null ? [] : [project]))),
        tag: await groupsOf(points.map(({ tags }) => tags)),
        agent: await groupsOf(points.map(({ agentId }) => (agentId === null ? [] : [agentId]))),
      },
    };
    const maps = kept.get(table) ?? new LRUCache<string, Kept>({ max: KEPT });
    kept.set(table, maps.set(part, { changes, until, map, added: former?.added ?? 0 }));
    return map;
  };

  return async (reach: Reach, use: UseTable, version: string | null = null): Promise<MemoryMap> => {
    const part = JSON.stringify(reach.bound);
    const name = reach.accountId + part;
    const asked = ++moment;
    for (;;) {
      const known = await use((table) => lookUp(table, part, version));
      if (known) return known;
      const other = running.get(name);
      if (other && other.began >= asked) return await waitFor(other, reach.signal);
      if (other) {
        // That map may show memories that were deleted before this request.
        await other.map.catch(() => {});
        continue;
      }
      const end = new AbortController();
      const map = make(use, reach, part, end.signal).finally(() => running.delete(name));
      const work = { began: ++moment, map, waiting: 0, end };
      running.set(name, work);
      return await waitFor(work, reach.signal);
    }
  };
}

/** The places and topics of the last map, for the memories of the next; null if too many have come since. */
function formerOf(points: readonly Point[], last: Kept | undefined) {
  if (!last || last.map.topics.length === 0) return null;
  const { map } = last;
  const numbers = new Map(map.topicOf.entries().map(([number]) => [idOnMap(map, number), number]));
  const places = new Float32Array(2 * points.length).fill(Number.NaN);
  let { added } = last;
  for (const [at, { id }] of points.entries()) {
    const number = numbers.get(id);
    if (number === undefined) {
      added++;
      continue;
    }
    for (const axis of [0, 1]) {
      places[2 * at + axis] = (map.places[2 * number + axis] ?? 0) / FARTHEST;
    }
  }
  const topics = map.topics.map(({ words, x, y }) => ({ words, x, y }));
  return added <= MAX_ADDED * points.length ? { places, topics, added } : null;
}

/** Waits for a map. If all clients that wait have gone, the work ends. */
async function waitFor(work: Running, signal?: AbortSignal): Promise<MemoryMap> {
  work.waiting++;
  const leave = () => {
    work.waiting--;
    const message = "The map is not drawn, as nobody waits for it.";
    if (work.waiting === 0) work.end.abort(new AppError("unavailable", message));
  };
  if (signal?.aborted) leave();
  signal?.addEventListener("abort", leave, { once: true });
  try {
    return await work.map;
  } finally {
    signal?.removeEventListener("abort", leave);
  }
}

const NOTHING = { places: new Float32Array(0), topics: [], topicOf: new Uint8Array(0) };

/** The memories to draw, how many there are, and when the first of all expires. */
async function gather(
  table: Drawable,
  reach: Reach,
  { now, most, signal }: { now: number; most: number; signal: AbortSignal },
) {
  const visible = readable(reach, { isCurrent: true, aliveAt: now });
  const share = (SPARE * most) / table.usage.memories;
  let [total, until] = [0, Number.POSITIVE_INFINITY];
  const sample: { point: Point; chance: number }[] = [];
  for await (const rows of table.rows()) {
    signal.throwIfAborted();
    for (const row of rows) {
      if (!passes(visible, row)) continue;
      total++;
      until = Math.min(until, row.expiresAt ?? until);
      const chance = Bun.hash.xxHash32(row.id) / 2 ** 32;
      if (chance < share) sample.push({ point: toPoint(row), chance });
    }
  }
  sample.sort((a, b) => a.chance - b.chance);
  const points = sample.slice(0, most).map(({ point }) => point);
  return { ...(await withVectors(table, points, signal)), total, until };
}

/** The memories that still exist, with the vectors of their first passages. */
async function withVectors(table: Drawable, wanted: readonly Point[], signal: AbortSignal) {
  const { dimension } = table.model;
  const pause = createPause();
  const points: Point[] = [];
  const vectors = new Float32Array(wanted.length * dimension);
  for (let from = 0; from < wanted.length; from += BATCH_SIZE) {
    signal.throwIfAborted();
    const some = wanted.slice(from, from + BATCH_SIZE);
    const found = await table.vectorsOf(some.map(({ id }) => id));
    for (const point of some) {
      const vector = found.get(point.id);
      if (vector) vectors.set(vector, dimension * (points.push(point) - 1));
    }
    await pause();
  }
  const areAll = points.length === wanted.length;
  return { points, vectors: areAll ? vectors : vectors.slice(0, points.length * dimension) };
}

function toPoint({ id, content, project, tags, agentId }: MemoryRow): Point {
  // A copy, since a slice of a string keeps the whole string in memory.
  const text = Buffer.from(content.slice(0, TEXT_CHARACTERS)).toString();
  return { id, text, project, tags, agentId };
}
