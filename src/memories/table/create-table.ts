import type { EmbeddingModel } from "../../embedding/embedder.ts";
import { createPause } from "../../timing/pause.ts";
import { type Base, type HeldBase, holdBase, type MemoryCodec } from "../base/base.ts";
import { createPending, type Outcome, type Pending } from "../log/pending.ts";
import type { Usage } from "../model/quota.ts";
import type { MemoryRow } from "../model/rows.ts";
import { createLiveView } from "../view/live-view.ts";
import { createView, MAX_WITH_STATES, type View } from "../view/view.ts";
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
    list: async (...page) => view.list(...page),
    count: async (filter) => view.count(filter),
    select: async (...some) => view.select(...some),
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
 * Milliseconds before the view of a table that can answer without it is filled, and between looks whether searches still
 * read the base: they take up to 300 ms, and longer beside the filling. After some looks it is filled all the same.
 */
const FILL_DELAY_MS = 300;
const MAX_DELAYS = 4;
/**
 * Searches that read a base at the same time while the view is being filled. Each takes about a second in a base of
 * 100,000 memories, so further ones are answered sooner if they wait for the view.
 */
const MAX_READING = 4;

/** What commits change of a table; see `MemoryTable`. */
interface TableState {
  usage: Usage;
  changes: number;
  seq: number;
  visibleSeq: number;
}

interface Limits {
  /** Rows from which reading a base into memory takes longer than a search may wait. */
  largeRows: number;
  viewMemory: ViewMemory;
}

/** A table's view, and the choice whether it answers a question or the base and the log do. */
function createReaders({
  base,
  pending,
  state,
  dimension,
  largeRows,
  viewMemory,
}: Limits & { base: HeldBase; pending: Pending; state: TableState; dimension: number }) {
  const hasManyMemories = () => state.usage.memories > MAX_WITH_STATES;
  const view = createLiveView(() => createView(dimension, hasManyMemories() ? 0 : undefined));
  const stored = createStoredReader({ base, pending, dimension, state });
  /** Searches that read the base. */
  let reading = 0;

  const bytesOfView = () => {
    const states = hasManyMemories() ? 0 : STATES_BYTES;
    return ((base.current?.rows ?? 0) + pending.size) * (dimension + ROW_BYTES + states);
  };

  const fill = (begin?: Promise<void>) =>
    view.fill({
      memories: () => base.stream((open) => open.read(!hasManyMemories())),
      changes: () => pending.all(),
      begin,
    });

  const untilFewRead = async () => {
    for (let looks = 0; looks < MAX_DELAYS; looks++) {
      await Bun.sleep(FILL_DELAY_MS);
      // Many searches wait for the view.
      if (reading === 0 || reading >= MAX_READING) return;
    }
  };

  const whileReading = async <Result>(read: Promise<Result>): Promise<Result> => {
    reading++;
    try {
      return await read;
    } finally {
      reading--;
    }
  };

  const storedSearch: TableReader = {
    ...stored,
    /** Searches the base, or the view once it is filled if many searches are reading the base. */
    async candidates(question) {
      const filled = view.isFilling && reading >= MAX_READING && (await fill().catch(() => null));
      return filled ? filled.candidates(question) : whileReading(stored.candidates(question));
    },
    ofSessions: (...question) => whileReading(stored.ofSessions(...question)),
  };

  return {
    view,
    stored,
    hasManyMemories,
    bytesOfView,

    /** The reader that answers without filling the view. */
    ready: () => (view.current ? createViewReader(view.current) : stored),

    /**
     * The reader for searches. A large table with indexes answers from its base while its view is being
     * filled. A table without indexes needs its view, whether there is room or not.
     */
    async forSearch(): Promise<TableReader> {
      if (view.current) return createViewReader(view.current);
      const canAnswer = base.current?.isIndexed && base.current.rows > largeRows;
      if (!canAnswer) return createViewReader(await fill());
      const bytes = bytesOfView();
      const mayFill = !view.isFilling && bytes <= viewMemory.bytes && viewMemory.make(bytes);
      if (mayFill) fill(untilFewRead()).catch(() => {});
      return storedSearch;
    },
  };
}

/** @param seq number of the last entry */
export function createTable({
  name,
  model,
  base: recordedBase,
  entries,
  usage,
  seq: lastSeq,
  codec,
  ...limits
}: Limits & {
  name: string;
  model: EmbeddingModel;
  /** The base of the last checkpoint; null without one. */
  base: Base | null;
  /** The log's entries since the checkpoint. */
  entries: readonly { seq: number; outcome: Outcome }[];
  usage: Usage;
  seq: number;
  codec: MemoryCodec;
}): KeptTable {
  const base = holdBase(recordedBase);
  const pending = createPending();
  for (const entry of entries) pending.note(entry.seq, entry.outcome);
  const state: TableState = { usage, changes: 0, seq: lastSeq, visibleSeq: lastSeq };
  const readers = createReaders({ base, pending, state, dimension: model.dimension, ...limits });
  const { view, stored } = readers;
  /** Pending while the view takes in a commit. */
  let applying: Promise<void> | null = null;

  /** Asks a reader that sees whole commits only. */
  const betweenCommits = async <Answer>(ask: (found: TableReader) => Promise<Answer>) => {
    let found = await readers.forSearch();
    while (applying) {
      await applying;
      found = await readers.forSearch();
    }
    return await ask(found);
  };

  return Object.assign(state, {
    name,
    model,
    base,
    pending,
    view,
    wasEmpty: lastSeq === 0,
    recount(counted) {
      state.usage = counted;
    },
    viewBytes: () => view.current?.bytes ?? (view.isFilling ? readers.bytesOfView() : 0),
    fitsInMemory: () => readers.bytesOfView() <= limits.viewMemory.bytes,

    find: (ids) => readers.ready().find(ids),
    list: (...question) => betweenCommits((found) => found.list(...question)),
    count: (filter) => betweenCommits((found) => found.count(filter)),
    select: (...some) => betweenCommits((found) => found.select(...some)),
    async expiring(limit) {
      while (applying) await applying;
      // Only background work asks this: it must not fill a view.
      return await readers.ready().expiring(limit);
    },
    rows: () => readers.ready().rows(),
    withText: (...question) => betweenCommits((found) => found.withText(...question)),
    async candidates({ vector, ...question }) {
      const asked = view.current;
      const matched = asked?.matchWords(question);
      const whole = { ...question, vector: await vector };
      // The view may have been closed meanwhile.
      if (asked && view.current === asked) return asked.candidates(whole, matched);
      return (await readers.forSearch()).candidates(whole);
    },
    ofSessions: async (...question) => (await readers.forSearch()).ofSessions(...question),
    async interaction(...question) {
      if (readers.hasManyMemories()) return new Map();
      return view.current?.interaction(...question) ?? (await stored.interaction(...question));
    },
    vectorsOf: async (ids) => view.current?.vectorsOf(ids) ?? (await stored.vectorsOf(ids)),
    load: stored.load,

    encode: (memories) => codec.encode(memories, model),
    async apply(seq, outcome, usage) {
      pending.note(seq, outcome);
      Object.assign(state, { seq, usage });
      state.changes++;
      applying = view.apply(outcome);
      await applying;
      applying = null;
      state.visibleSeq = seq;
    },
  } satisfies Omit<KeptTable, keyof TableState>);
}
