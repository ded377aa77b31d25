import { type ImportedMemory, type ImportReport, LIMITS } from "../memories/model/memory.ts";
import type { GoodLine, ReadFile, Reading, SourceLine } from "./read-files.ts";

/** Groups lines, up to a number of lines or, roughly, a number of characters. */
export async function* inBatches(
  lines: AsyncIterable<SourceLine>,
  limits: { lines: number; characters: number },
): AsyncGenerator<SourceLine[]> {
  let batch: SourceLine[] = [];
  let characters = 0;
  for await (const line of lines) {
    batch.push(line);
    characters += "line" in line ? line.line.length : 0;
    if (batch.length < limits.lines && characters < limits.characters) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}

/** Failures that are kept: a file of 32 MB may have millions of damaged lines. */
const MAX_FAILED = 100;
const MAX_SAMPLES = 5;

export type Totals = ReturnType<typeof createTotals>;

/** The outcome of an import so far. */
export function createTotals() {
  return {
    created: 0,
    updated: 0,
    unchanged: 0,
    /** Memories that are newer on the server, and stay. */
    kept: 0,
    /** Memories whose secrets were masked. */
    masked: 0,
    /** What could not be imported, by location: the first `MAX_FAILED` of `failures`. */
    failed: [] as { at: string; reason: string }[],
    failures: 0,
    /** What was left out of memories, with the number of memories. */
    notes: new Map<string, number>(),
    /** The first memories, as they would be saved. */
    samples: [] as ImportedMemory[],
  };
}

/** Counts a line that was read: its problem, or its notes and its sample. */
function addLine(totals: Totals, line: SourceLine): void {
  if ("problem" in line) {
    addFailure(totals, line.at, line.problem);
    return;
  }
  for (const note of line.notes) totals.notes.set(note, (totals.notes.get(note) ?? 0) + 1);
  if (totals.samples.length < MAX_SAMPLES) totals.samples.push(sampleOf(line));
}

/** Adds the server's report about lines that were sent. */
function addReport(totals: Totals, report: ImportReport, sent: readonly GoodLine[]): void {
  totals.created += report.created;
  totals.updated += report.updated;
  totals.unchanged += report.unchanged;
  totals.kept += report.kept;
  // Servers of earlier versions do not report this.
  totals.masked += report.masked ?? 0;
  for (const { line, outcome, reason } of report.skipped) {
    if (outcome === "invalid") addFailure(totals, sent[line - 1]?.at ?? "", reason);
  }
}

function addFailure(totals: Totals, at: string, reason: string): void {
  totals.failures++;
  if (totals.failed.length < MAX_FAILED) totals.failed.push({ at, reason });
}

/** Memories and problems so far. */
export function countOf({ created, updated, unchanged, kept, failures }: Totals): number {
  return created + updated + unchanged + kept + failures;
}

/** Whether the import found any memory. */
export function isUnderstood({ created, updated, unchanged, kept }: Totals): boolean {
  return created + updated + unchanged + kept > 0;
}

function sampleOf({ line, memory }: GoodLine): ImportedMemory {
  if (memory !== null) return memory;
  try {
    return JSON.parse(line);
  } catch {
    return { content: line };
  }
}

/** Describes files to people: `an export of mem0`, `notes in Markdown (3 files) and a table in CSV`. */
export function describeFiles(files: readonly ReadFile[]): string {
  const counts = new Map<string, number>();
  for (const { format, problem } of files) {
    if (format && !problem) counts.set(format, (counts.get(format) ?? 0) + 1);
  }
  const names = [...counts].map(([name, count]) => (count > 1 ? `${name} (${count} files)` : name));
  if (names.length === 0) return files.length === 1 ? "this file" : "these files";
  const shown =
    names.length > 3 ? [...names.slice(0, 2), `${names.length - 2} other kinds`] : names;
  return new Intl.ListFormat("en-GB").format(shown);
}

/** Describes the counts to people: `3 new, 2 here already`. */
export function describeTotals({ created, updated, unchanged, kept }: Totals): string {
  const parts = [
    `${created} new`,
    ...(updated > 0 ? [`${updated} updated`] : []),
    ...(unchanged > 0 ? [`${unchanged} here already`] : []),
    ...(kept > 0 ? [`${kept} not changed, because the memory here is newer`] : []),
  ];
  return parts.join(", ");
}

const BATCH_CHARACTERS = 1 << 20;

/**
 * Sends the lines of a reading in batches, and counts the outcomes in `totals`. Yields after each batch.
 * @param send imports lines of JSON; its report refers to them by their numbers
 */
export async function* transfer(
  { lines }: Pick<Reading, "lines">,
  totals: Totals,
  send: (lines: readonly string[]) => Promise<ImportReport>,
): AsyncGenerator<void, void> {
  const limits = { lines: LIMITS.batch, characters: BATCH_CHARACTERS };
  for await (const batch of inBatches(lines, limits)) {
    for (const line of batch) addLine(totals, line);
    const good = batch.flatMap((line) => ("line" in line ? line : []));
    if (good.length > 0) addReport(totals, await send(good.map(({ line }) => line)), good);
    yield;
  }
}
