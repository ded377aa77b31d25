import type { ImportedMemory, ImportReport } from "../memories/memory.ts";
import { LIMITS } from "../memories/memory.ts";
import type { GoodLine, ReadFile, Reading, SourceLine } from "./read-files.ts";

/** Bytes that are sent at once, at the most. */
const BATCH_BYTES = 1 << 20;

/** What an import came to so far. */
export interface Totals {
  created: number;
  updated: number;
  unchanged: number;
  kept: number;
  /** Memories with secrets, which were masked. */
  masked: number;
  /** What could not be imported, by place. */
  failed: { at: string; reason: string }[];
  /** What was left out of memories, and of how many. */
  notes: Map<string, number>;
  /** The first memories, as they would be saved. */
  samples: ImportedMemory[];
}

/** Memories that a preview shows. */
const SAMPLES = 5;

export function createTotals(): Totals {
  return {
    ...{ created: 0, updated: 0, unchanged: 0, kept: 0, masked: 0 },
    ...{ failed: [], notes: new Map(), samples: [] },
  };
}

/** Places that were reached. */
export function countOf({ created, updated, unchanged, kept, failed }: Totals): number {
  return created + updated + unchanged + kept + failed.length;
}

/**
 * Brings what is read where it belongs, some hundred lines at once, and counts what becomes of it. Yields
 * after each time.
 * @param send takes lines of JSON, and reports by their numbers
 */
export async function* transfer(
  { lines }: Pick<Reading, "lines">,
  totals: Totals,
  send: (lines: readonly string[]) => Promise<ImportReport>,
): AsyncGenerator<void, void> {
  for await (const batch of inBatches(lines)) {
    const good = batch.flatMap((line) => ("line" in line ? line : []));
    for (const one of batch) {
      if ("problem" in one) totals.failed.push({ at: one.at, reason: one.problem });
      else {
        for (const note of one.notes) totals.notes.set(note, (totals.notes.get(note) ?? 0) + 1);
        if (totals.samples.length < SAMPLES) totals.samples.push(sampleOf(one));
      }
    }
    if (good.length > 0) {
      const report = await send(good.map(({ line }) => line));
      totals.created += report.created;
      totals.updated += report.updated;
      totals.unchanged += report.unchanged;
      totals.kept += report.kept;
      // A server of an earlier version does not say.
      totals.masked += report.masked ?? 0;
      for (const { line, outcome, reason } of report.skipped) {
        if (outcome === "invalid") totals.failed.push({ at: good[line - 1]?.at ?? "", reason });
      }
    }
    yield;
  }
}

/** Lines that are sent at once; what can't be is among them. */
async function* inBatches(lines: AsyncIterable<SourceLine>): AsyncGenerator<SourceLine[]> {
  let batch: SourceLine[] = [];
  let bytes = 0;
  for await (const line of lines) {
    batch.push(line);
    bytes += "line" in line ? line.line.length : 0;
    if (batch.length < LIMITS.batch && bytes < BATCH_BYTES) continue;
    yield batch;
    [batch, bytes] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

function sampleOf({ line, memory }: GoodLine): ImportedMemory {
  if (memory !== null) return memory;
  try {
    return JSON.parse(line);
  } catch {
    return { content: line };
  }
}

/** What was read, for people: `an export of mem0`, `notes in Markdown (3 files) and a table in CSV`. */
export function describeFiles(files: readonly ReadFile[]): string {
  const counts = new Map<string, number>();
  for (const { format, problem } of files) {
    if (format && !problem) counts.set(format, (counts.get(format) ?? 0) + 1);
  }
  const names = [...counts].map(([name, count]) => (count > 1 ? `${name} (${count} files)` : name));
  if (names.length === 0) return files.length === 1 ? "this file" : "these files";
  const shown =
    names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} other kinds`] : names;
  const last = shown.pop() ?? "";
  return shown.length === 0 ? last : `${shown.join(", ")} and ${last}`;
}

/** `3 new, 2 here already` */
export function describeTotals({ created, updated, unchanged, kept }: Totals): string {
  const parts = [
    `${created} new`,
    ...(updated > 0 ? [`${updated} updated`] : []),
    ...(unchanged > 0 ? [`${unchanged} here already`] : []),
    ...(kept > 0 ? [`${kept} older than what is here, which stays`] : []),
  ];
  return parts.join(", ");
}

/** Whether anything was found that is a memory. */
export function isUnderstood({ created, updated, unchanged, kept }: Totals): boolean {
  return created + updated + unchanged + kept > 0;
}
