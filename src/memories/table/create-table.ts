import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { createPause } from "../../timing/pause.ts";
import { type Base, holdBase, type MemoryCodec } from "../base/base.ts";
import { createPending, type Outcome } from "../log/pending.ts";
import type { Usage } from "../model/quota.ts";
import type { MemoryRow, StoredMemory } from "../model/rows.ts";
import { createView, MAX_WITH_STATES } from "../view/create-view.ts";
import { createLiveView } from "../view/live-view.ts";
import type { View } from "../view/view.ts";
import { createStoredReader } from "./stored-reader.ts";
import type { KeptTable, TableReader, ViewMemory } from "./table.ts";

/** The most memories of sessions around a search's best candidates. */
export const MAX_SESSION_MEMORIES = 512;
/** Memories of a batch when all are read. */
const BATCH = 500;

/** Answers from a view that has all memories of its table. */
function createViewReader(view: View): TableReader {
  return {
    find: async (ids) => ids.flatMap((id) => view.get(id) ?? []),
    list: async (filter, from, limit) => view.list(filter, from, limit),
    count: async (filter) => view.count(filter),
    select: async (filter) => view.select(filter),
    expiring: async (limit) => view.expiring(limit),
    async *rows() {
      const pause = createPause();
      let rows: MemoryRow[] = [];
      for (const row of view.rows()) {
        rows.push(row);
        if (rows.length < BATCH) continue;
        yield rows;
        rows = [];
        await pause();
      }
      yield rows;
    },
    withText: async (content) => view.withText(content),
    candidates: async (question) => view.candidates(question),
    ofSessions: async (sessions, asked) => view.ofSessions(sessions, asked, MAX_SESSION_MEMORIES),
  };
}

/** Approximate bytes of a memory in the view: its row and words, and its token states. */
const ROW_BYTES = 500;
const STATES_BYTES = 1_000;
/**
 * Milliseconds before the view of a table that can answer without it is filled. The search that started the filling
 * takes up to 300 ms, and longer beside the filling.
 */
const FILL_DELAY_MS = 300;
/**
 * Searches that read a base at the same time while the view is being filled. Each takes about a second in a base of
 * 100,000 memories, so further ones are answered sooner if they wait for the view.
 */
const MAX_READING = 4;

/** @param seq number of the last entry */
export function createTable({
  name,
  model,
  base: recordedBase,
  entries,
  usage: recordedUsage,
  seq: lastSeq,
  codec,
  largeRows,
  viewMemory,
}: {
  name: string;
  model: EmbeddingModel;
  /** The base of the last checkpoint; null without one. */
  base: Base | null;
  /** The log's entries since the checkpoint. */
  entries: readonly { seq: number; outcome: Outcome }[];
  usage: Usage;
  seq: number;
  codec: MemoryCodec;
  /** Rows from which reading a base into memory takes longer than a search may wait. */
  largeRows: number;
  viewMemory: ViewMemory;
}): KeptTable {
  const base = holdBase(recordedBase);
  const pending = createPending();
  const hasManyMemories = () => usage.memories > MAX_WITH_STATES;
  const view = createLiveView(() => createView(model.dimension, hasManyMemories() ? 0 : undefined));
  let [seq, visibleSeq, usage, changes] = [lastSeq, lastSeq, recordedUsage, 0];
  for (const entry of entries) pending.note(entry.seq, entry.outcome);

  const stored = createStoredReader({
    base,
    pending,
    dimension: model.dimension,
    size: () => usage.memories,
    changes: () => changes,
  });

  const bytesOfView = () => {
    const states = hasManyMemories() ? 0 : STATES_BYTES;
    return ((base.current?.rows ?? 0) + pending.size) * (model.dimension + ROW_BYTES + states);
  };

  const fill = (after = 0) =>
    view.fill({
      memories: () => base.stream((open) => open.read(!hasManyMemories())),
      changes: () => pending.all(),
      after,
    });

  /** The reader that answers without filling the view. */
  const readyReader = () => (view.current ? createViewReader(view.current) : stored);

  /**
   * The reader for searches. A large table with indexes answers from its base while its view is being
   * filled. A table without indexes needs its view, whether there is room or not.
   */
  const reader = async (): Promise<TableReader> => {
    if (view.current) return createViewReader(view.current);
    const canAnswer = base.current?.isIndexed && base.current.rows > largeRows;
    if (!canAnswer) return createViewReader(await fill());
    const bytes = bytesOfView();
    const mayFill = !view.isFilling && bytes <= viewMemory.bytes && viewMemory.make(bytes);
    if (mayFill) fill(FILL_DELAY_MS).catch(() => {});
    return stored;
  };

  /** Searches that read the base. */
  let reading = 0;

  /** Searches the base, or the view once it is filled if many searches are reading the base. */
  const searchStored: TableReader["candidates"] = async (question) => {
    const filled = view.isFilling && reading >= MAX_READING && (await fill().catch(() => null));
    if (filled) return filled.candidates(question);
    reading++;
    try {
      return await stored.candidates(question);
    } finally {
      reading--;
    }
  };

  /** Pending while the view takes in a commit. */
  let applying: Promise<void> | null = null;

  /** Asks a reader that sees whole commits only. */
  const betweenCommits = async <Answer>(ask: (found: TableReader) => Promise<Answer>) => {
    let found = await reader();
    while (applying) {
      await applying;
      found = await reader();
    }
    return await ask(found);
  };

  return {
    name,
    model,
    base,
    pending,
    view,
    wasEmpty: lastSeq === 0,
    get usage() {
      return usage;
    },
    get changes() {
      return changes;
    },
    get seq() {
      return seq;
    },
    get visibleSeq() {
      return visibleSeq;
    },
    recount(counted) {
      usage = counted;
    },
    get viewBytes() {
      return view.current?.bytes ?? (view.isFilling ? bytesOfView() : 0);
    },
    fitsInMemory: () => bytesOfView() <= viewMemory.bytes,

    find: (ids) => readyReader().find(ids),
    list: (...question) => betweenCommits((found) => found.list(...question)),
    count: (filter) => betweenCommits((found) => found.count(filter)),
    select: (filter) => betweenCommits((found) => found.select(filter)),
    async expiring(limit) {
      while (applying) await applying;
      // Only background work asks this: it must not fill a view.
      return await readyReader().expiring(limit);
    },
    rows: () => readyReader().rows(),
    withText: (...question) => betweenCommits((found) => found.withText(...question)),
    async candidates({ vector, ...question }) {
      const asked = view.current;
      const matched = asked?.matchWords(question);
      const whole = { ...question, vector: await vector };
      // The view may have been closed meanwhile.
      if (asked && view.current === asked) return asked.candidates(whole, matched);
      const found = await reader();
      return await (found === stored ? searchStored(whole) : found.candidates(whole));
    },
    ofSessions: async (...question) => (await reader()).ofSessions(...question),
    async interaction(...question) {
      if (hasManyMemories()) return new Map();
      return view.current?.interaction(...question) ?? (await stored.interaction(...question));
    },
    vectorsOf: async (ids) => view.current?.vectorsOf(ids) ?? firstVectors(await stored.load(ids)),
    load: stored.load,

    encode: (memories) => codec.encode(memories, model),
    async apply(number, outcome, usageAfter) {
      pending.note(number, outcome);
      [seq, usage] = [number, usageAfter];
      changes++;
      applying = view.apply(outcome);
      await applying;
      applying = null;
      visibleSeq = number;
    },
  };
}

function firstVectors(memories: readonly StoredMemory[]): Map<string, Float32Array> {
  return new Map(memories.flatMap(({ id, vectors: [first] }) => (first ? [[id, first]] : [])));
}
