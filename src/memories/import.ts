import { isDiskFull } from "../disk-errors.ts";
import type { ContentEmbedding, Embedder } from "../embedding/embedder.ts";
import { AppError } from "../errors.ts";
import type { Reach } from "../keys/reach.ts";
import { createPause } from "../pause.ts";
import type { Draft } from "./draft.ts";
import { withProjectIds } from "./import-ids.ts";
import {
  type ExistingMemory,
  type LineMemory,
  type LineResult,
  resultOf,
  toExisting,
  toLineMemory,
  withSessionTime,
} from "./import-lines.ts";
import { linkedIds, linkImported, mergeLinks } from "./import-links.ts";
import { type ImportedMemory, type ImportReport, LIMITS, type MemorySource } from "./memory.ts";
import type { OpenTable } from "./pooled-table.ts";
import { mayWrite, mayWriteTo, projectToWrite } from "./reach.ts";
import { embeddingOf, type MemoryRow, type StoredMemory } from "./rows.ts";
import type { SecretWatch } from "./secret-watch.ts";
import { createSessionOrder } from "./session-order.ts";
import type { Store } from "./store.ts";

/** A line of an import: a memory, or the line's problem. */
export type ImportLine =
  | { number: number; memory: ImportedMemory }
  | { number: number; problem: string };

/** The most characters of a batch, which limits the memory that it takes. */
const BATCH_CHARACTERS = 1 << 20;
/**
 * Texts of an import that wait to be embedded at once. A text of another client waits for no more than
 * these.
 */
const MAX_EMBEDDING = 4;
/** The most lines that a report names. */
const MAX_SKIPPED = 1_000;
/** How often a step is tried that the server can't do now, before the import fails. */
const MAX_TRIES = 30;

const NOT_NEWER = "is not newer than the memory that is here";
const OTHER_PROJECT = "belongs to no project, or to another one than the importing key";

interface Dependencies {
  store: Pick<Store, "use">;
  /** Milliseconds since 1970. */
  clock: () => number;
  secrets: Pick<SecretWatch, "maskMemory">;
}

export interface ImportOptions {
  /** The credential that imports: recorded for each memory whose text it writes. */
  source: MemorySource;
  /** Whether the import only reports what it would do. */
  dryRun: boolean;
  /** Whether the report may tell an unchanged line from a differing older one. */
  mayRead: boolean;
  /** Called before each batch is embedded, and before it is written. It throws to end the import. */
  stillAllowed: () => Promise<void>;
}

/**
 * Imports memories into an account, with their ids and times. A line with an existing id is written only if
 * its `updated_at` is newer. A line without an id gets one from its content, so that importing the same
 * lines twice changes nothing. At most a batch of lines is in memory.
 * @throws AppError when the import can't continue; the written batches stay, and importing again is safe
 */
export async function importMemories(
  { store, clock, secrets }: Dependencies,
  reach: Reach,
  lines: AsyncIterable<ImportLine>,
  { source, dryRun, mayRead, stillAllowed }: ImportOptions,
): Promise<ImportReport> {
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
    const results = await store.use(reach.accountId, async (open) => {
      const own = await withProjectIds(reach, batch, open.table.find);
      return dryRun ? predict(open, own) : writeBatch(open, reach, own, stillAllowed);
    });
    for (const [index, actual] of results.entries()) {
      const result = actual === "unchanged" && !mayRead ? "kept" : actual;
      if (result === "kept") skip(batch[index]?.line ?? 0, result, NOT_NEWER);
      else report[result]++;
    }
  };

  const inOrder = createSessionOrder();
  const pause = createPause();
  let batch: LineMemory[] = [];
  let characters = 0;
  let importedUpTo = 0;
  try {
    for await (const line of lines) {
      if ("problem" in line) {
        skip(line.number, "invalid", line.problem);
        continue;
      }
      if (!mayWriteTo(reach, line.memory.project)) {
        skip(line.number, "invalid", OTHER_PROJECT);
        continue;
      }
      const project = projectToWrite(reach, line.memory.project);
      const unmasked = toLineMemory(line.number, line.memory, { project, source, now: clock() });
      // Masking does not change the id that follows from the line's text.
      const masked = secrets.maskMemory(unmasked);
      const wanted = withSessionTime(masked, line.memory, inOrder);
      await pause();
      if (masked !== unmasked) report.masked++;
      batch.push(wanted);
      characters += wanted.content.length;
      if (batch.length < LIMITS.batch && characters < BATCH_CHARACTERS) continue;
      await write(batch);
      importedUpTo = line.number;
      [batch, characters] = [[], 0];
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

/** The results that writing a batch would have. */
async function predict({ table }: OpenTable, batch: readonly LineMemory[]): Promise<LineResult[]> {
  return resultsOf(batch, await table.find([...new Set(batch.map(({ id }) => id))]));
}

/** The results of a batch's lines, in order: an id may occur twice. */
function resultsOf(batch: readonly LineMemory[], rows: readonly MemoryRow[]): LineResult[] {
  const known = new Map<string, ExistingMemory>(rows.map((row) => [row.id, row]));
  return batch.map((wanted, place) => {
    const result = resultOf(wanted, known.get(wanted.id));
    if (result === "created" || result === "updated")
      known.set(wanted.id, toExisting(wanted, place));
    return result;
  });
}

async function writeBatch(
  { table, writer, embedder }: OpenTable,
  reach: Reach,
  batch: readonly LineMemory[],
  stillAllowed: () => Promise<void>,
): Promise<LineResult[]> {
  const ids = [...new Set(batch.map(({ id }) => id))];
  const rows = await table.find(ids);
  const predicted = resultsOf(batch, rows);
  if (!predicted.some((result) => result === "created" || result === "updated")) return predicted;

  const contents = new Map(rows.map(({ id, content }) => [id, content]));
  const texts = batch
    .filter(({ id, content }, place) => {
      const isWritten = predicted[place] === "created" || predicted[place] === "updated";
      return isWritten && contents.get(id) !== content;
    })
    .map(({ content }) => content);
  const embedded = await embedAll(embedder, texts);
  await stillAllowed();

  const linked = linkedIds(batch);
  const results = await retry(() =>
    writer.change({
      ids: [...ids, ...linked],
      withVectors: rows.length + linked.length > 0,
      links: "near",
      apply: (draft) => applyBatch(draft, reach, batch, embedded),
    }),
  );
  // Another write has changed a memory meanwhile, so that other texts must be embedded.
  return results ?? writeBatch({ table, writer, embedder }, reach, batch, stillAllowed);
}

/** @returns null, and changes nothing, when a text is not embedded */
function applyBatch(
  draft: Draft,
  reach: Reach,
  batch: readonly LineMemory[],
  embedded: ReadonlyMap<string, ContentEmbedding>,
): LineResult[] | null {
  const written = new Map<string, StoredMemory>();
  const superseded = new Map<string, string | null>();
  const results: LineResult[] = [];
  for (const [place, wanted] of batch.entries()) {
    const before = written.get(wanted.id);
    const current = before ?? draft.get(wanted.id);
    // The memory may have moved to another project meanwhile.
    const result = current && !mayWrite(reach, current) ? "kept" : resultOf(wanted, current);
    results.push(result);
    if (result === "unchanged" || result === "kept") continue;
    const same = current?.content === wanted.content ? current : null;
    const kept = before ? embeddingOf(before) : draft.embeddingOf(wanted.id);
    const own = (same && kept) ?? embedded.get(wanted.content);
    if (!own) return null;
    const source = same ? same.source : wanted.source;
    const links = mergeLinks(wanted, current);
    superseded.set(wanted.id, draft.get(wanted.id)?.supersedes ?? null);
    written.set(wanted.id, { ...toExisting(wanted, place), source, ...links, ...own });
  }
  for (const memory of written.values()) draft.put(memory);
  linkImported(draft, reach, [...written.values()], superseded);
  return results;
}

/** Embeds texts, a few at a time. */
async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
): Promise<Map<string, ContentEmbedding>> {
  const embedded = new Map<string, ContentEmbedding>();
  const waiting = new Set(texts).values();
  const embedNext = async () => {
    for (const text of waiting) {
      embedded.set(text, await retry(() => embedder.embedContent(text)));
    }
  };
  await Promise.all(Array.from({ length: MAX_EMBEDDING }, embedNext));
  return embedded;
}

/** Tries again when a step fails with `retryAfter`. An import can wait, and requests of clients go first. */
async function retry<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const isTemporary = error instanceof AppError && error.retryAfter !== undefined;
      // Waiting frees no disk space.
      if (!isTemporary || isDiskFull(error) || attempt === MAX_TRIES) throw error;
      await Bun.sleep(error.retryAfter * 1_000);
    }
  }
}
