import { createEmbedders } from "../../src/embedding/chosen-model.ts";
import type { EmbeddingModel } from "../../src/embedding/embedder.ts";
import type { Base, Bases } from "../../src/memories/base/base.ts";
import { memoryCodec } from "../../src/memories/base/memory-codec.ts";
import type { Vault } from "../../src/memories/base/vault.ts";
import type { Checkpoint } from "../../src/memories/log/records.ts";
import { type StoredMemory, UNSET } from "../../src/memories/model/rows.ts";
import { openStore } from "../../src/memories/open-store.ts";
import type { Store } from "../../src/memories/store/store.ts";
import { createMetrics, type Metrics } from "../../src/metrics.ts";
import { silentLog } from "./embedder.ts";
import { fakeEmbedder } from "./fake-embedder.ts";
import type { Schedule } from "./interleavings.ts";
import { flush, type LogState, modelLog } from "./model-log.ts";
import { NEVER } from "./shared-stores.ts";

export const ACCOUNT = "acc_1";
export const OLD = { id: "old", dimension: 16 };
export const NEW = { id: "new", dimension: 24 };

/** What the bases have that flushes have written. */
type BaseContents = Map<string, { model: EmbeddingModel; memories: StoredMemory[] }>;

/** Milliseconds after which nothing repeats in a test. */
const AT_NO_TIME = 1e9;
const FOLLOWING = {
  ...{ heads: AT_NO_TIME, overdue: AT_NO_TIME, overdueTables: 0, answers: AT_NO_TIME },
  ...{ copies: AT_NO_TIME, abandonedCopies: AT_NO_TIME },
};
const EXPIRY = { every: AT_NO_TIME, jump: AT_NO_TIME, restAfterJump: 0, retryAfter: AT_NO_TIME };

const metrics = createMetrics();
const made = new Map<string, unknown>();
function once<Metric>(name: string, make: () => Metric): Metric {
  if (!made.has(name)) made.set(name, make());
  return made.get(name) as Metric;
}
/** Metrics that all stores share, since nobody reads them and they are much of what a store costs. */
const SHARED_METRICS: Metrics = {
  ...metrics,
  counter: (name, ...rest) => once(name, () => metrics.counter(name, ...rest)),
  durations: (name, ...rest) => once(name, () => metrics.durations(name, ...rest)),
  gauge() {},
  counterOf() {},
};

/** A base in memory. */
function modelBase(
  checkpoint: Checkpoint,
  { model, memories }: { model: EmbeddingModel; memories: readonly StoredMemory[] },
): Base {
  const unused = () => Promise.reject(new Error("not modelled"));
  const load = async (ids: readonly string[]) => memories.filter(({ id }) => ids.includes(id));
  async function* all() {
    yield [...memories];
  }
  return {
    ...{ checkpoint, model, rows: memories.length, isUpToDate: true, isIndexed: false },
    ...{ find: load, load, read: all, scan: all, close() {} },
    ...{ states: unused, firstVectors: unused, list: unused, expiring: unused, search: unused },
    ...{ ofSessions: unused, countTexts: unused, count: unused, nearWords: unused },
  };
}

/** The real stores of several processes, on a log whose steps are taken in a chosen order. */
export function createModel(state: LogState, schedule: Schedule) {
  const contents: BaseContents = new Map();
  const opened: Store[] = [];
  const unused = () => Promise.reject(new Error("not modelled"));

  const bases: Bases = {
    async open(checkpoint) {
      const found = contents.get(checkpoint.base);
      if (!found) throw new Error(`no base ${checkpoint.base}`);
      return modelBase(checkpoint, found);
    },
    ...{ append: unused, rewrite: unused, index: unused },
  };
  const vault: Vault = {
    async restore(base) {
      const recorded = [...state.checkpoints.values()].some((each) => each.base === base);
      if (!recorded) throw new Error(`${base} has been removed`);
    },
    forget: async () => {},
    hold: () => () => {},
    ...{ keep: unused, bases: unused, files: unused, needed: unused, bytes: unused },
  };

  /** All memories of a table, as a process finds them that opens it now. */
  const memoriesOf = (name: string): StoredMemory[] => {
    const found = new Map<string, StoredMemory>();
    const base = state.checkpoints.get(name)?.base;
    for (const memory of contents.get(base ?? "")?.memories ?? []) found.set(memory.id, memory);
    for (const { written, removed } of state.entries.get(name) ?? []) {
      for (const memory of written ? memoryCodec.decode(written) : []) found.set(memory.id, memory);
      for (const id of removed) found.delete(id);
    }
    return [...found.values()];
  };

  return {
    /** A process that wants this model. It copies tables of the other one. */
    async open(who: string, wanted: typeof OLD): Promise<Store> {
      const log = modelLog(state, who, schedule);
      const other = wanted === OLD ? NEW : OLD;
      const store = await openStore({
        storage: { log, vault, bases, codec: memoryCodec, step: () => {} },
        embedders: createEmbedders(fakeEmbedder(wanted), () => fakeEmbedder(other)),
        logger: silentLog,
        metrics: SHARED_METRICS,
        due: NEVER,
        following: FOLLOWING,
        expiry: EXPIRY,
      });
      opened.push(store);
      return store;
    },

    /** Another process flushes the account's first table. */
    flush: () =>
      schedule.take(
        { who: "flush", what: "flush", touches: () => ({ reads: [], writes: [ACCOUNT] }) },
        () => {
          const base = `${ACCOUNT}.base${contents.size}`;
          contents.set(base, {
            model: { ...fakeEmbedder(OLD).model },
            memories: memoriesOf(ACCOUNT),
          });
          flush(state, ACCOUNT, base);
        },
      ),

    /** The lease for copying is not renewed in time. */
    endLease: () =>
      schedule.take(
        { who: "time", what: "lease ends", touches: () => ({ reads: [], writes: ["copies"] }) },
        () => {
          for (const copy of state.copies.values()) copy.isValid = false;
        },
      ),

    /** The texts of the account's memories by id, as a process finds them that starts now. */
    recorded(): Record<string, string> {
      const name = state.current.get(ACCOUNT)?.name ?? ACCOUNT;
      return Object.fromEntries(memoriesOf(name).map(({ id, content }) => [id, content]));
    },

    close: () => Promise.all(opened.map((store) => store.close())),
  };
}

/** Adds or replaces a memory. */
export async function put(store: Store, id: string, content: string): Promise<void> {
  await store.use(ACCOUNT, async ({ writer, embedder }) => {
    const embedding = await embedder.embedContent(content);
    const memory: StoredMemory = {
      ...UNSET,
      ...{ id, content, createdAt: 0, updatedAt: 0 },
      ...embedding,
    };
    await writer.change({ ids: [id], apply: (draft) => draft.put(memory) });
  });
}

/** Removes a memory. @throws Error when it is not there */
export async function remove(store: Store, id: string): Promise<void> {
  await store.use(ACCOUNT, ({ writer }) =>
    writer.change({
      ids: [id],
      apply(draft) {
        if (!draft.get(id)) throw new Error(`${id} is not there`);
        draft.remove(id);
      },
    }),
  );
}

/** The texts of some memories by id. */
export async function read(store: Store, ids: readonly string[]): Promise<Record<string, string>> {
  const rows = await store.use(ACCOUNT, ({ table }) => table.find(ids));
  return Object.fromEntries(rows.map(({ id, content }) => [id, content]));
}
