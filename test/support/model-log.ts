import { accountOf, type Log, StaleAppendError } from "../../src/memories/log/log.ts";
import type { Checkpoint, CurrentTable, Entry, Lease } from "../../src/memories/log/records.ts";
import {
  LeaseLost,
  type NumberedEntry,
  type SharedLog,
} from "../../src/memories/log/shared-log.ts";
import type { Schedule } from "./interleavings.ts";

/** What the tables of a PostgreSQL log have. */
export interface LogState {
  current: Map<string, CurrentTable>;
  heads: Map<string, number>;
  entries: Map<string, NumberedEntry[]>;
  checkpoints: Map<string, Checkpoint>;
  /** Leases for copying, by account. */
  copies: Map<string, { owner: string; epoch: number; isValid: boolean }>;
  /** Number of the first entry of the next new table. */
  next: number;
}

export function createLogState(): LogState {
  return {
    current: new Map(),
    heads: new Map(),
    entries: new Map(),
    checkpoints: new Map(),
    copies: new Map(),
    next: 1_000,
  };
}

/** Records a base and removes the entries that it includes, as a process does that is not modelled. */
export function flush(state: LogState, name: string, base: string): void {
  const upTo = state.heads.get(name);
  if (upTo === undefined) return;
  state.checkpoints.set(name, { base, version: 1, files: [], upTo });
  state.entries.set(name, []);
}

const isHolder = (state: LogState, accountId: string, { owner, epoch }: Lease) => {
  const copy = state.copies.get(accountId);
  return copy?.owner === owner && copy.epoch === epoch;
};

function drop(state: LogState, name: string): void {
  for (const each of [state.heads, state.entries, state.checkpoints]) each.delete(name);
}

/** As `appendEntry` does it in one statement. */
function append(state: LogState, name: string, { shared, written, ...entry }: Entry): number {
  const accountId = accountOf(name);
  const { id, after, lease } = shared ?? { id: "", after: 0, lease: undefined };
  const seq = state.heads.get(name);
  const current = state.current.get(accountId);
  const mayCopy = lease && current?.name !== name && isHolder(state, accountId, lease);
  if ((lease && !mayCopy) || (seq ?? 0) !== after)
    throw new StaleAppendError(`${name} is elsewhere`);
  if (seq === undefined && !lease && current && current.name !== name)
    throw new StaleAppendError("replaced");
  if (!lease && !current) state.current.set(accountId, { name, model: entry.model });
  const number = (seq ?? state.next) + 1;
  state.next = Math.max(state.next, number) + 1_000;
  state.heads.set(name, number);
  const { leavesOldData, usage } = entry;
  const added = { seq: number, id, written, leavesOldData, usage, removed: [...entry.removed] };
  state.entries.set(name, [...(state.entries.get(name) ?? []), added]);
  return number;
}

/** As `SharedLog.replace` does it in one transaction. */
function replace(
  state: LogState,
  accountId: string,
  { from, seq, to }: { from: string; seq: number; to: CurrentTable },
  lease: Lease,
): boolean {
  if (!isHolder(state, accountId, lease)) throw new LeaseLost("lost");
  if (state.current.get(accountId)?.name !== from) throw new LeaseLost("replaced");
  if ((state.heads.get(from) ?? 0) !== seq) return false;
  state.current.set(accountId, to);
  state.copies.delete(accountId);
  drop(state, from);
  return true;
}

function takeLease(state: LogState, account: string, owner: string): Lease | null {
  const copy = state.copies.get(account) ?? { owner: "", epoch: 0, isValid: false };
  if (copy.isValid && copy.owner !== owner) return null;
  const epoch = copy.owner === owner ? copy.epoch : copy.epoch + 1;
  state.copies.set(account, { owner, epoch, isValid: true });
  return { table: account, owner, epoch };
}

function release(state: LogState, lease: Lease): void {
  const copy = state.copies.get(lease.table);
  if (copy && isHolder(state, lease.table, lease)) copy.isValid = false;
}

/** As `SharedLog.forgetCopies` does it. */
function forgetCopies(state: LogState, isWanted: (name: string, account: string) => boolean) {
  const isForgotten = (name: string) => {
    const accountId = accountOf(name);
    const isCopy = state.current.has(accountId) && state.current.get(accountId)?.name !== name;
    return isCopy && !isWanted(name, accountId) && !state.copies.get(accountId)?.isValid;
  };
  const forgotten = [...state.heads.keys()].filter(isForgotten);
  for (const name of forgotten) {
    drop(state, name);
    state.copies.delete(accountOf(name));
  }
  return forgotten;
}

function since(state: LogState, name: string, seq: number) {
  const head = state.heads.get(name);
  if (head === undefined) return null;
  const upTo = state.checkpoints.get(name)?.upTo ?? 0;
  const all = state.entries.get(name) ?? [];
  const isKnown = seq === 0 || head === seq || upTo >= seq || all.some((each) => each.seq === seq);
  if (!isKnown) return null;
  const current = state.current.get(accountOf(name));
  const model = current?.name === name ? current.model : null;
  return { seq: head, upTo, model, entries: all.filter((entry) => entry.seq > seq) };
}

/**
 * The log of one process on a state that processes share. Each call is one atomic step, as it is one
 * statement or transaction in PostgreSQL. `copies.test.ts` tests both in the same way.
 */
export function modelLog(
  state: LogState,
  who: string,
  { take }: Schedule,
): Log & { shared: SharedLog } {
  const step = <Result>(
    what: string,
    [reads, writes]: [readonly string[], readonly string[]],
    act: () => Result,
  ) => take({ who, what, touches: () => ({ reads, writes }) }, act);
  const headOf = (name: string) => ({
    table: name,
    seq: state.heads.get(name) ?? 0,
    checkpoint: state.checkpoints.get(name) ?? null,
  });
  const unused = () => Promise.reject(new Error("not modelled"));
  const nothing = async () => {};

  const copying = {
    lease: (table: string, owner: string) =>
      step("lease", [[], ["copies"]], () => takeLease(state, table, owner)),
    renew: async () => true,
    release: (lease: Lease) => step("release", [[], ["copies"]], () => release(state, lease)),
  };
  const shared: SharedLog = {
    position: (accountId) => {
      const nameOf = () => state.current.get(accountId)?.name ?? accountId;
      const touches = () => ({ reads: ["current", nameOf()], writes: [] });
      return take({ who, what: "position", touches }, () => {
        const model = state.current.get(accountId)?.model ?? null;
        return { ...headOf(nameOf()), model };
      });
    },
    heads: (names) =>
      step(`heads ${names}`, [names, []], () =>
        names.filter((name) => state.heads.has(name)).map(headOf),
      ),
    since: (name, seq) =>
      step(`since ${name}`, [["current", name], []], () => since(state, name, seq)),
    copying,
    replace: (accountId, tables, lease) => {
      const writes = ["copies", "current", tables.from];
      return step("replace", [[], writes], () => replace(state, accountId, tables, lease));
    },
    setModel: async (accountId, table) => {
      const isCurrent = state.current.get(accountId)?.name === table.name;
      if (isCurrent) state.current.set(accountId, table);
    },
    // Nothing is flushed by these processes, and no time passes.
    lease: async () => null,
    renew: async () => false,
    release: nothing,
    overdue: async () => [],
    forgetCopies: async (isWanted) => forgetCopies(state, isWanted),
    forgetAccount: unused,
    expireAnswers: nothing,
    records: {
      ...{ begin: unused, describe: unused, contents: unused, wanted: unused, ours: unused },
      ...{ condemn: unused, condemned: unused, gone: unused },
    },
  };
  return {
    likenesses: {
      ...{ all: unused, state: unused, record: unused },
      ...{ note: async () => {}, reset: async () => {} },
    },
    append: (name, entry) =>
      step(
        `append ${name}`,
        [
          entry.shared?.lease ? ["copies"] : [],
          [name, ...(entry.shared?.after ? [] : ["current"])],
        ],
        () => append(state, name, entry),
      ),
    head: (name) =>
      step(`head ${name}`, [[name], []], () => {
        const { seq, checkpoint } = headOf(name);
        const usage = { memories: 0, bytes: 0 };
        const full = state.checkpoints.get(name) ?? null;
        return state.heads.has(name) ? { seq, usage, checkpoint: checkpoint && full } : null;
      }),
    current: (accountId) =>
      step("current", [["current"], []], () => state.current.get(accountId) ?? null),
    allCurrent: async () =>
      [...state.current].map(([accountId, table]) => ({ accountId, ...table })),
    entries: unused,
    tables: async () => [...state.heads.keys()],
    size: unused,
    checkpoint: unused,
    expunge: unused,
    answer: unused,
    expired: async () => [],
    setExpiry: async () => true,
    shared,
  };
}
