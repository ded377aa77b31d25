import {
  type ContentEmbedding,
  type Embedder,
  embedTogether,
} from "../../../embedding/embedder.ts";
import { AppError } from "../../../errors.ts";
import type { Reach } from "../../../keys/reach.ts";
import { isDiskFull } from "../../../system/disk-errors.ts";
import { mayWrite } from "../../model/reach.ts";
import { embeddingOf, type MemoryRow, type StoredMemory } from "../../model/rows.ts";
import type { OpenTable } from "../../store/pooled-table.ts";
import type { Draft } from "../../table/draft.ts";
import { type Links, linksOf, relink } from "../../table/links.ts";
import {
  type ExistingMemory,
  type LineMemory,
  type LineResult,
  resultOf,
  toStored,
} from "./import-lines.ts";

/**
 * The links of an imported memory. A memory that supersedes the replaced one still supersedes it, even if
 * the line does not say so.
 */
export function mergeLinks(wanted: Links, current: Links | null): Links {
  const { supersedes, supersededBy } = wanted;
  return { supersedes, supersededBy: supersededBy ?? current?.supersededBy ?? null };
}

/**
 * Updates the memories that imported ones link to. A link to a missing memory is kept, because a later line
 * may create it. A memory that is linked with another one stays so.
 * @param written the imported memories, which are in the draft
 * @param before what they superseded before the import, by their ids
 */
function linkImported(
  draft: Draft,
  reach: Reach,
  written: readonly StoredMemory[],
  before: ReadonlyMap<string, string | null>,
): void {
  /** A memory that may be relinked, and the id of the memory that it links to, if that exists. */
  const find = (id: string | null, link: keyof Links) => {
    const memory = id === null ? null : draft.get(id);
    if (!memory || !mayWrite(reach, memory)) return null;
    const linked = memory[link] === null ? null : draft.get(memory[link]);
    return { memory, linked: linked?.id ?? null };
  };
  for (const { id } of written) {
    const former = find(before.get(id) ?? null, "supersededBy");
    const memory = draft.get(id);
    if (!memory) continue;
    if (former?.linked === id && former.memory.id !== memory.supersedes) {
      relink(draft, former.memory, { supersededBy: null });
    }
    const older = find(memory.supersedes, "supersededBy");
    const isBetween = older?.linked === memory.supersededBy;
    // A memory that supersedes this one must not be superseded by it.
    const isCircle = older?.memory.supersedes === id;
    if (older && !isCircle && (older.linked === null || isBetween)) {
      relink(draft, older.memory, { supersededBy: id });
    }
    const newer = find(memory.supersededBy, "supersedes");
    if (newer && (newer.linked === null || newer.linked === memory.supersedes)) {
      relink(draft, newer.memory, { supersedes: id });
    }
  }
}

/**
 * Texts of an import that wait to be embedded at once. A text of another client waits for no more than
 * these.
 */
const MAX_EMBEDDING = 16;
/** How often a step is tried that the server can't do now, before the import fails. */
const MAX_STEP_TRIES = 30;

/** The results of a batch's lines, in order: an id may occur twice. */
function resultsOf(batch: readonly LineMemory[], rows: readonly MemoryRow[]): LineResult[] {
  const known = new Map<string, ExistingMemory>(rows.map((row) => [row.id, row]));
  return batch.map((wanted, place) => {
    const result = resultOf(wanted, known.get(wanted.id));
    if (isWritten(result)) known.set(wanted.id, toStored(wanted, place));
    return result;
  });
}

/** Embeds and writes a batch; a dry run returns the results that this would have. */
export async function writeBatch(
  { table, writer, embedder }: Pick<OpenTable, "table" | "writer" | "embedder">,
  reach: Reach,
  batch: readonly LineMemory[],
  options: { dryRun: boolean; stillAllowed: () => Promise<void> },
): Promise<LineResult[]> {
  const ids = [...new Set(batch.map(({ id }) => id))];
  const rows = await table.find(ids);
  const predicted = resultsOf(batch, rows);
  if (options.dryRun || !predicted.some(isWritten)) return predicted;

  const contents = new Map(rows.map(({ id, content }) => [id, content]));
  const texts = batch
    .filter(({ id, content }, place) => isWritten(predicted[place]) && contents.get(id) !== content)
    .map(({ content }) => content);
  const embedded = await embedAll(embedder, texts, reach);
  await options.stillAllowed();

  const linked = [...new Set(batch.flatMap(linksOf))];
  const results = await retry(() =>
    writer.change({
      ids: [...ids, ...linked],
      withVectors: rows.length + linked.length > 0,
      links: "near",
      apply: (draft) => applyBatch(draft, reach, batch, embedded),
    }),
  );
  // Another write has changed a memory meanwhile, so that other texts must be embedded.
  return results ?? writeBatch({ table, writer, embedder }, reach, batch, options);
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
    if (!isWritten(result)) continue;
    const same = current?.content === wanted.content ? current : null;
    const kept = before ? embeddingOf(before) : draft.embeddingOf(wanted.id);
    const own = (same && kept) ?? embedded.get(wanted.content);
    if (!own) return null;
    const source = same ? same.source : wanted.source;
    const links = mergeLinks(wanted, current);
    superseded.set(wanted.id, draft.get(wanted.id)?.supersedes ?? null);
    written.set(wanted.id, { ...toStored(wanted, place), source, ...links, ...own });
  }
  for (const memory of written.values()) draft.put(memory);
  linkImported(draft, reach, [...written.values()], superseded);
  return results;
}

function isWritten(result: LineResult | undefined): boolean {
  return result === "created" || result === "updated";
}

/** Embeds texts, a few at a time. */
async function embedAll(
  embedder: Embedder,
  texts: readonly string[],
  reach: Reach,
): Promise<Map<string, ContentEmbedding>> {
  const embedded = new Map<string, ContentEmbedding>();
  const waiting = new Set(texts).values();
  await embedTogether(reach, (caller) => {
    const embedNext = async () => {
      for (const text of waiting) {
        embedded.set(text, await retry(() => embedder.embedContent(text, caller)));
      }
    };
    return Promise.all(Array.from({ length: MAX_EMBEDDING }, embedNext));
  });
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
      if (!isTemporary || isDiskFull(error) || attempt === MAX_STEP_TRIES) throw error;
      await Bun.sleep(error.retryAfter * 1_000);
    }
  }
}
