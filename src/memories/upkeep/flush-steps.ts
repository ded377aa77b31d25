import type { Base, Bases } from "../base/base.ts";
import type { OnStep } from "../base/bases.ts";
import type { Vault } from "../base/vault.ts";
import type { Log } from "../log/log.ts";
import { type Checkpoint, isSameBase } from "../log/records.ts";
import { LeaseLost } from "../log/shared-log.ts";
import type { KeptTable } from "../table/table.ts";
import type { Comparing } from "./comparing.ts";
import {
  type FlushState,
  isSoleWriter,
  mayAppend,
  needsWrite,
  type UpkeepLimits,
} from "./flush-state.ts";

/** What the steps of a table's flushes work on. */
export interface FlushContext {
  table: KeptTable;
  log: Pick<Log, "checkpoint" | "expunge" | "head" | "shared">;
  bases: Bases;
  vault: Pick<Vault, "forget" | "restore">;
  due: UpkeepLimits;
  step: OnStep;
  state: FlushState;
  /** Learns which memories a flush brings into the base, before the checkpoint is recorded. */
  comparing: Pick<Comparing, "note">;
}

/** Brings the log into the base, and removes from the files what was deleted. */
export async function flushTable(context: FlushContext): Promise<void> {
  const { table, due, state } = context;
  if (state.lease) await readRecordedBase(context);
  if (state.unrecorded) await recordBase(context, state.unrecorded.base, state.unrecorded.began);
  if (needsWrite(state, table)) {
    await (mayAppend(table, state, due) ? append(context) : rewrite(context));
  }
  await removeRemains(context);
  state.isRequested = false;
}

/** Builds the indexes of the base. A base that another process wrote is rewritten with them. */
export async function indexTable(context: FlushContext): Promise<void> {
  const { table, bases, state } = context;
  if (state.lease) await readRecordedBase(context);
  const present = table.base.current;
  if (!present) return;
  if (!isSoleWriter(state, present)) {
    await rewrite(context, true);
    return await removeRemains(context);
  }
  state.mustRewrite = true;
  await bases.index(present, !table.fitsInMemory());
  await recordBase(context, present, null);
}

/** Reads the base that the log has recorded, if this table reads another one. */
export async function readRecordedBase(context: FlushContext): Promise<void> {
  const { table, log, state } = context;
  const head = await log.head(table.name);
  state.isBehind = false;
  const recorded = head?.checkpoint ?? null;
  if (recorded && !isSameBase(recorded, table.base.current?.checkpoint)) {
    await switchTo(context, recorded);
  }
}

/** Removes a base that was written and can't be recorded any more. */
export async function abandonUnrecorded({ table, vault, state }: FlushContext): Promise<void> {
  const abandoned = state.unrecorded?.base;
  state.unrecorded = null;
  if (!abandoned || abandoned === table.base.current) return;
  abandoned.close();
  await vault.forget([abandoned.checkpoint.base]).catch(() => {});
}

/**
 * Records a base as the table's checkpoint, and reads it from now on.
 * @param began when the flush began that wrote the log into it; null when none did
 */
async function recordBase(
  { table: { name, base, pending }, log, step, state }: FlushContext,
  next: Base,
  began: number | null,
): Promise<void> {
  const { lease } = state;
  state.unrecorded = { base: next, began };
  await log.checkpoint(name, next.checkpoint, lease ?? undefined);
  state.unrecorded = null;
  if (lease) state.written = { base: next.checkpoint.base, epoch: lease.epoch };
  await step("checkpoint recorded");
  const present = base.current;
  if (present && present !== next) state.replaced.add(present.checkpoint.base);
  state.mustRewrite = false;
  // Changes are dropped only once the base that has them is read.
  const replaced = base.replace(next);
  await Promise.all([replaced, began !== null && pending.drop(next.checkpoint.upTo, began)]);
}

/** Adds the pending memories to the base. */
async function append(context: FlushContext): Promise<void> {
  const { table, bases, state, comparing } = context;
  const { current } = table.base;
  if (!current) return;
  const began = performance.now();
  const changes = table.pending.all();
  const memories = table.pending.memories();
  state.mustRewrite = true;
  await bases.append(current, memories, table.seq);
  const { times, rows } = state.appended;
  state.appended = { times: times + 1, rows: rows + memories.length };
  await comparing.note(changes);
  await recordBase(context, current, began);
}

/** Writes all live rows as a new base. A table that does not fit in memory needs its indexes at once. */
async function rewrite(
  context: FlushContext,
  mustIndex = !context.table.fitsInMemory(),
): Promise<void> {
  const { table, bases, state, comparing } = context;
  const began = performance.now();
  const { name, model, seq, pending } = table;
  const changes = pending.all();
  state.forgettingSince ??= pending.remainsSince;
  const options = { upTo: seq, model };
  const checkpoint = await bases.rewrite(name, table.base.current, changes, options);
  const next = await openWritten(context, checkpoint, mustIndex);
  state.appended = { times: 0, rows: 0 };
  await comparing.note(changes);
  await recordBase(context, next, began);
}

/** Opens a base that was just written, and builds its indexes. If that fails, the base is removed. */
async function openWritten(
  { bases, vault }: FlushContext,
  checkpoint: Checkpoint,
  mustIndex: boolean,
): Promise<Base> {
  let written: Base | null = null;
  try {
    written = await bases.open(checkpoint);
    if (mustIndex) await bases.index(written, true);
    return written;
  } catch (error) {
    written?.close();
    await vault.forget([checkpoint.base]).catch(() => {});
    throw error;
  }
}

/** Removes replaced bases and flushed entries from the files, and with them what was deleted. */
async function removeRemains({ table, log, vault, step, state }: FlushContext): Promise<void> {
  await vault.forget([...state.replaced]);
  state.replaced.clear();
  await step("former base removed");
  if (!(await log.expunge(table.name))) {
    throw new Error("another process is reading the database's log");
  }
  state.forgettingSince = null;
  await step("log expunged");
}

/** Reads a base that another process has recorded, and drops the pending changes that it includes. */
async function switchTo(context: FlushContext, recorded: Checkpoint): Promise<void> {
  const { table, bases, vault, step, state } = context;
  const { base, pending } = table;
  if (recorded.upTo > table.seq) {
    throw new LeaseLost("another process has recorded entries that this one has not read");
  }
  await vault.restore(recorded.base, recorded.files);
  const next = await bases.open(recorded);
  await step("base of others opened");
  if (state.unrecorded && state.unrecorded.base !== base.current) state.unrecorded.base.close();
  state.unrecorded = null;
  state.written = null;
  state.mustRewrite = false;
  state.appended = { times: 0, rows: 0 };
  state.forgettingSince = null;
  await Promise.all([base.replace(next), pending.drop(recorded.upTo, performance.now())]);
}
