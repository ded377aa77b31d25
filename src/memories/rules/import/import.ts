import { createIdFrom } from "../../../db/id.ts";
import { AppError } from "../../../errors.ts";
import { hasScope, type Reach, requireScope } from "../../../keys/reach.ts";
import { createPause } from "../../../timing/pause.ts";
import {
  type ImportedMemory,
  type ImportReport,
  LIMITS,
  type MemorySource,
} from "../../model/memory.ts";
import { mayWriteTo, projectToWrite } from "../../model/reach.ts";
import { createSessionOrder } from "../../model/rows.ts";
import { historyOf, type Links, linksOf } from "../../table/links.ts";
import type { TableReader } from "../../table/table.ts";
import type { SecretWatch } from "../secrets/secret-watch.ts";
import type { Parts } from "../visible.ts";
import { mergeLinks, writeBatch } from "./import-batch.ts";
import { type LineMemory, toLineMemory, withSessionTime } from "./import-lines.ts";

/**
 * Replaces ids in the lines of a caller that is bound to a project. An id that no memory of the project has
 * becomes a new id that follows from it and the project. So a line can neither change a memory of another
 * project nor reveal that it exists.
 * @param find memories by their ids
 */
async function withProjectIds(
  { bound }: Reach,
  lines: readonly LineMemory[],
  find: TableReader["find"],
): Promise<readonly LineMemory[]> {
  if (!bound) return lines;
  const named = lines.flatMap(({ id, supersedes, supersededBy }) => [id, supersedes, supersededBy]);
  const rows = await find([...new Set(named.filter((id) => id !== null))]);
  const own = new Set(rows.filter(({ project }) => project === bound.project).map(({ id }) => id));
  const ownId = (id: string) =>
    own.has(id) ? id : createIdFrom("mem", JSON.stringify([id, bound.project]));
  const ownLink = (id: string | null) => id && ownId(id);
  return lines.map((line) => ({
    ...line,
    id: ownId(line.id),
    supersedes: ownLink(line.supersedes),
    supersededBy: ownLink(line.supersededBy),
  }));
}

/**
 * The lines that would make a history longer than it may be.
 * @param find memories by their ids
 */
async function tooLongHistories(
  lines: readonly LineMemory[],
  find: TableReader["find"],
): Promise<Set<LineMemory>> {
  const linked = lines.filter((line) => linksOf(line).length > 0);
  const tooLong = new Set<LineMemory>();
  if (linked.length === 0) return tooLong;
  // Most are missing or in the same lines, and one query finds all of them.
  const named = linked.flatMap((line) => [line.id, ...linksOf(line)]);
  const known = new Map<string, (Links & { id: string }) | null>(named.map((id) => [id, null]));
  for (const row of await find([...known.keys()])) known.set(row.id, row);
  const get = async (id: string) => {
    const found = known.get(id);
    if (found !== undefined) return found;
    const [row = null] = await find([id]);
    known.set(id, row);
    return row;
  };
  const pause = createPause();
  for (const line of linked) {
    const before = await get(line.id);
    known.set(line.id, { id: line.id, ...mergeLinks(line, before) });
    const history = await historyOf(get, line.id);
    if (history.length > LIMITS.history) {
      known.set(line.id, before);
      tooLong.add(line);
    }
    await pause();
  }
  return tooLong;
}

/** A line of an import: a memory, or the line's problem. */
export type ImportLine =
  | { number: number; memory: ImportedMemory }
  | { number: number; problem: string };

/** The most characters of a batch, which limits its memory and for how long its commit blocks the main thread. */
const BATCH_CHARACTERS = 1 << 18;
/** The most lines that a report names. */
const MAX_SKIPPED = 1_000;

const NOT_NEWER = "is not newer than the existing memory";
const TOO_LONG = `would make a history longer than ${LIMITS.history.toLocaleString("en")} memories`;
const OTHER_PROJECT = "belongs to no project, or to another one than the importing key";

export interface ImportOptions {
  /** The credential that imports: recorded for each memory whose text it writes. */
  source: MemorySource;
  /** Whether the import only reports what it would do. */
  dryRun: boolean;
  /** Called before each batch is embedded, and before it is written. It throws to end the import. */
  stillAllowed: () => Promise<void>;
  /** Called after each batch with the ids of its new memories. */
  onCreated?: (ids: readonly string[]) => void;
}

/**
 * Imports memories into an account, with their ids and times. A line with an existing id is written only if
 * its `updated_at` is newer. A line without an id gets one from its content, so that importing the same
 * lines twice changes nothing. At most a batch of lines is in memory.
 * @throws AppError when the import can't continue; the written batches stay, and importing again is safe
 */
export async function importMemories(
  { store, clock, secrets }: Parts & { secrets: Pick<SecretWatch, "maskMemory"> },
  reach: Reach,
  lines: AsyncIterable<ImportLine>,
  { source, dryRun, stillAllowed, onCreated }: ImportOptions,
): Promise<ImportReport> {
  // A dry run reveals existing memories, and changes nothing.
  if (dryRun) requireScope(reach, "memories:read");
  /** Whether the report may tell an unchanged line from a differing older one. */
  const mayRead = hasScope(reach, "memories:read");
  const report: ImportReport = {
    created: 0,
    updated: 0,
    unchanged: 0,
    kept: 0,
    invalid: 0,
    masked: 0,
    skipped: [],
  };
  const skip = (line: number, outcome: "kept" | "invalid", reason: string) => {
    report[outcome]++;
    if (report.skipped.length < MAX_SKIPPED) report.skipped.push({ line, outcome, reason });
  };
  const write = async (batch: readonly LineMemory[]) => {
    await stillAllowed();
    const { lines, tooLong, results } = await store.use(reach.accountId, async (open) => {
      const own = await withProjectIds(reach, batch, open.table.find);
      const tooLong = await tooLongHistories(own, open.table.find);
      const lines = own.filter((line) => !tooLong.has(line));
      const results = await writeBatch(open, reach, lines, { dryRun, stillAllowed });
      return { lines, tooLong, results };
    });
    for (const { line } of tooLong) skip(line, "invalid", TOO_LONG);
    for (const [index, actual] of results.entries()) {
      const result = actual === "unchanged" && !mayRead ? "kept" : actual;
      if (result === "kept") skip(lines[index]?.line ?? 0, result, NOT_NEWER);
      else report[result]++;
    }
    onCreated?.(lines.filter((_, index) => results[index] === "created").map(({ id }) => id));
  };

  const inOrder = createSessionOrder();
  const pause = createPause();
  let batch: LineMemory[] = [];
  let characters = 0;
  let importedUpTo = 0;
  const add = async (number: number, memory: ImportedMemory) => {
    const project = projectToWrite(reach, memory.project);
    const unmasked = toLineMemory(number, memory, { project, source, now: clock() });
    // Masking does not change the id that follows from the line's text.
    const masked = secrets.maskMemory(unmasked);
    const wanted = withSessionTime({ ...masked, ...(reach.bound && { project }) }, memory, inOrder);
    await pause();
    if (masked !== unmasked) report.masked++;
    batch.push(wanted);
    characters += wanted.content.length;
    if (batch.length < LIMITS.batch && characters < BATCH_CHARACTERS) return;
    await write(batch);
    importedUpTo = number;
    [batch, characters] = [[], 0];
  };
  try {
    for await (const line of lines) {
      if ("problem" in line) skip(line.number, "invalid", line.problem);
      else if (mayWriteTo(reach, line.memory.project)) await add(line.number, line.memory);
      else skip(line.number, "invalid", OTHER_PROJECT);
    }
    if (batch.length > 0) await write(batch);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const { code, message, retryAfter } = error;
    const done = importedUpTo > 0 ? ` The lines up to ${importedUpTo} have been imported.` : "";
    throw new AppError(code, `${message}${done}`, {
      cause: error,
      ...(retryAfter !== undefined && { retryAfter }),
    });
  }
  report.skipped.sort((a, b) => a.line - b.line);
  return report;
}
