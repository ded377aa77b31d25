import type { EmbeddingModel, TokenStates } from "../embedding/embedder.ts";
import { createTurns } from "../turns.ts";
import type { Base, MemoryCodec } from "./base/base.ts";
import { type HeldBase, holdBase } from "./base/held-base.ts";
import type { Filter, PageStart } from "./filter.ts";
import { createPending, type Outcome, type Pending } from "./log/pending.ts";
import type { Usage } from "./quota.ts";
import type { Candidate, Expiring, Found, MemoryRow, StoredMemory } from "./rows.ts";
import { createStoredReader } from "./stored-reader.ts";
import { createView, MOST_WITH_STATES } from "./view/create-view.ts";
import { createLiveView, type LiveView } from "./view/live-view.ts";
import type { SessionQuestion, ViewQuestion } from "./view/view.ts";

/** How a table answers questions, from the view or from the base and the log. */
export interface TableReader {
  /** Memories by id, in no order; those that aren't there are left out. */
  find(ids: readonly string[]): Promise<MemoryRow[]>;
  /** Ids of memories, newest first, from a place of that order on; all of them without a limit. */
  list(filter: Filter, from: PageStart | null, limit?: number): Promise<string[]>;
  /** How many a filter lets pass. */
  count(filter: Filter): Promise<number>;
  /** Ids of all that a filter lets pass. */
  select(filter: Filter): Promise<string[]>;
  /** Memories that expire, the first to do so first. */
  expiring(limit: number): Promise<Expiring[]>;
  /** All memories, some at a time. */
  rows(): AsyncGenerator<MemoryRow[]>;
  /**
   * Memories with the same text; white space around it does not count.
   * @param vector of its first passage
   */
  withText(content: string, vector: Float32Array | null): Promise<MemoryRow[]>;
  /** What a search has to consider; see `View`. */
  candidates(question: ViewQuestion): Promise<Found>;
  /** Memories of sessions, of very long ones a part. */
  ofSessions(sessions: readonly string[], asked: SessionQuestion): Promise<Candidate[]>;
}

/**
 * The memories of one account, with one model's vectors: a base, the changes that the log holds
 * since, and the view of both. Reads may run at any time, writes one at a time.
 */
export interface MemoryTable extends TableReader {
  readonly name: string;
  /** What made its vectors. */
  readonly model: EmbeddingModel;
  /** How many memories there are, and how long their texts. */
  readonly usage: Usage;
  /** Grows with every commit. */
  readonly changes: number;
  /** Whether nothing was ever written to it when it was opened. */
  readonly wasEmpty: boolean;
  /** Number of the last entry that it has taken in, and of the last that all readers see. */
  readonly seq: number;
  readonly settled: number;
  /**
   * How well memories answer a question word by word, −1 to 1: see `StateIndex`. Those that have no
   * states are left out, and all of a table of more memories than a view keeps states of.
   * @param weights what each of the question's tokens counts, 0 and up
   */
  interaction(
    ids: readonly string[],
    states: TokenStates,
    weights: readonly number[],
  ): Promise<Map<string, number>>;
  /** The vectors of the first passages of memories, by their ids. */
  vectorsOf(ids: readonly string[]): Promise<Map<string, Float32Array>>;
  /** Memories by id with their vectors. */
  load(ids: readonly string[]): Promise<StoredMemory[]>;
  encode(memories: readonly StoredMemory[]): Uint8Array;
  /** Takes in what the log has committed. */
  apply(seq: number, outcome: Outcome, usage: Usage): Promise<void>;
}

/** A table with what upkeep sees to. */
export interface KeptTable extends MemoryTable {
  readonly base: HeldBase;
  readonly pending: Pending;
  readonly view: LiveView;
  /** Sets what it holds, for a table whose writes were not counted. */
  recount(usage: Usage): void;
  /** Bytes of memory that its view takes, or will take, about, when it is being filled. */
  readonly viewBytes: number;
  /** Whether all of it may be in memory. */
  fitsInMemory(): boolean;
}

/** Memory for the views of all tables. */
export interface Room {
  bytes: number;
  /** Closes views that nobody uses, and tells whether there is room for one of so many bytes. */
  make(bytes: number): boolean;
}

/** Bytes of a memory in the view besides its vector, about: a few sentences and their words. */
const ROW_BYTES = 500;
/** Bytes of a memory's states there, about. */
const STATES_BYTES = 1_000;
/**
 * Milliseconds until a table is read into memory that can answer without: the question that asked for it
 * comes first.
 */
const FILL_AFTER = 100;
/** Memories of sessions around a search's best candidates that are looked at. */
export const AROUND = 512;
/** Memories that are made at a stretch when all are read. */
const BATCH = 500;

/**
 * @param base of the last checkpoint; null without any
 * @param entries what the log holds since
 * @param seq number of the last entry
 */
export function createTable({
  name,
  model,
  base: first,
  entries,
  usage: counted,
  seq: last,
  codec,
  largeRows,
  room,
}: {
  name: string;
  model: EmbeddingModel;
  base: Base | null;
  entries: readonly { seq: number; outcome: Outcome }[];
  usage: Usage;
  seq: number;
  codec: MemoryCodec;
  /** Rows from which reading a base into memory takes longer than a search may wait. */
  largeRows: number;
  room: Room;
}): KeptTable {
  const base = holdBase(first);
  const pending = createPending();
  const view = createLiveView(() => createView(model.dimension, hasManyMemories() ? 0 : undefined));
  let [seq, settled, usage, changes] = [last, last, counted, 0];
  for (const entry of entries) pending.note(entry.seq, entry.outcome);

  const stored = createStoredReader({
    ...{ base, pending, dimension: model.dimension, size },
    changes: () => changes,
  });
  function size() {
    return usage.memories;
  }

  const hasManyMemories = () => usage.memories > MOST_WITH_STATES;

  const bytesOfView = () => {
    const states = hasManyMemories() ? 0 : STATES_BYTES;
    return ((base.current?.rows ?? 0) + pending.size) * (model.dimension + ROW_BYTES + states);
  };

  const fill = (after = 0) =>
    view.fill(
      () => base.stream((open) => open.read(!hasManyMemories())),
      () => pending.all(),
      after,
    );

  /** What answers without waiting for the table to be read into memory. */
  const atHand = () => (view.current ? viewReader(view.current) : stored);

  /**
   * What answers searches. A large table that has its indexes does not keep a search waiting while it is
   * read into memory. One that has none must be in memory, if there is room or not.
   */
  const reader = async (): Promise<TableReader> => {
    if (view.current) return viewReader(view.current);
    const canAnswer = base.current?.isIndexed && base.current.rows > largeRows;
    if (!canAnswer) return viewReader(await fill());
    const bytes = bytesOfView();
    const mayFill = !view.isFilling && bytes <= room.bytes && room.make(bytes);
    if (mayFill) fill(FILL_AFTER).catch(() => {});
    return stored;
  };

  /** While a commit is being brought into the view. */
  let applying: Promise<void> | null = null;

  /** Asks when all of a commit can be seen, or nothing. */
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
    wasEmpty: last === 0,
    get usage() {
      return usage;
    },
    get changes() {
      return changes;
    },
    get seq() {
      return seq;
    },
    get settled() {
      return settled;
    },
    recount(held) {
      usage = held;
    },
    get viewBytes() {
      return view.current?.bytes ?? (view.isFilling ? bytesOfView() : 0);
    },
    fitsInMemory: () => bytesOfView() <= room.bytes,

    find: (ids) => atHand().find(ids),
    list: (...question) => betweenCommits((found) => found.list(...question)),
    count: (filter) => betweenCommits((found) => found.count(filter)),
    select: (filter) => betweenCommits((found) => found.select(filter)),
    async expiring(limit) {
      while (applying) await applying;
      // Nobody waits for it: it reads nothing into memory.
      return await atHand().expiring(limit);
    },
    rows: () => atHand().rows(),
    withText: (...question) => betweenCommits((found) => found.withText(...question)),
    candidates: async (question) => (await reader()).candidates(question),
    ofSessions: async (...question) => (await reader()).ofSessions(...question),
    async interaction(...question) {
      if (hasManyMemories()) return new Map();
      return view.current?.interaction(...question) ?? (await stored.interaction(...question));
    },
    vectorsOf: async (ids) => view.current?.vectorsOf(ids) ?? firstVectors(await stored.load(ids)),
    load: stored.load,

    encode: (memories) => codec.encode(memories, model),
    async apply(number, outcome, grown) {
      pending.note(number, outcome);
      [seq, usage] = [number, grown];
      changes++;
      applying = view.apply(outcome);
      await applying;
      applying = null;
      settled = number;
    },
  };
}

function firstVectors(memories: readonly StoredMemory[]): Map<string, Float32Array> {
  return new Map(memories.flatMap(({ id, vectors: [first] }) => (first ? [[id, first]] : [])));
}

/** Answers from a view that has all memories. */
function viewReader(view: NonNullable<LiveView["current"]>): TableReader {
  return {
    find: async (ids) => ids.flatMap((id) => view.get(id) ?? []),
    list: async (filter, from, limit) => view.list(filter, from, limit),
    count: async (filter) => view.count(filter),
    select: async (filter) => view.select(filter),
    expiring: async (limit) => view.expiring(limit),
    async *rows() {
      const turn = createTurns();
      let rows: MemoryRow[] = [];
      for (const row of view.rows()) {
        rows.push(row);
        if (rows.length < BATCH) continue;
        yield rows;
        rows = [];
        await turn();
      }
      yield rows;
    },
    withText: async (content) => view.withText(content),
    candidates: async (question) => view.candidates(question),
    ofSessions: async (sessions, asked) => view.ofSessions(sessions, asked, AROUND),
  };
}
