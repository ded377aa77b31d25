import { CtxdError, readJson } from "./error.ts";
import { joinBytes, readLines, readPieces } from "./lines.ts";
import { toQuery } from "./query.ts";
import type { Send } from "./send.ts";
import type { ImportedMemory, ImportReport } from "./types.ts";

/** A memory, or a piece of an export of any size: one JSON object per line. */
type Item = ImportedMemory | Uint8Array | string;

/** Sources of an import: a text, a file, a stream, a list or a generator. */
export type ImportSource =
  | string
  | Uint8Array
  | Blob
  | ReadableStream<Item>
  | Iterable<Item>
  | AsyncIterable<Item>;

/** Lines and bytes of one request: small enough to take seconds, to pass proxies and to be repeated. */
const PART = { lines: 256, bytes: 256 << 10 };
/** Bytes of a part that must not be split: see `isTied`. */
const MAX_TIED_PART_BYTES = 8 << 20;
/** Longer lines are no memories. They are cut, and the server reports them as invalid. */
const MAX_LINE_BYTES = 1 << 20;
const LINE_END = Uint8Array.of(10);
/** Lines that a report lists. */
const MAX_LISTED = 1_000;

/**
 * Sends the source in parts; a few hundred lines are in memory at a time. Importing a line again
 * changes nothing, so a part whose response was lost is repeated.
 */
export async function importMemories(
  send: Send,
  source: ImportSource,
  {
    dry_run,
    space,
    signal,
  }: { dry_run: boolean; space: string | undefined; signal: AbortSignal | undefined },
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
  const path = `/memories/import${toQuery({ dry_run, space })}`;
  let before = 0;
  for await (const lines of readParts(readLines(toBytes(source), MAX_LINE_BYTES + 1))) {
    const body = joinBytes(lines.flatMap((line) => [line, LINE_END]));
    const headers = { "content-type": "application/x-ndjson" };
    const sending = { method: "POST", path, body, headers, isRepeatable: true, signal };
    const done = send(sending, (response) => readJson<ImportReport>(response));
    add(report, await done.catch(failAfter(before)), before);
    before += lines.length;
  }
  return report;
}

/** Adds the report of a part. @param before number of lines before the part */
function add(report: ImportReport, part: ImportReport, before: number): void {
  const { skipped, ...counts } = part;
  for (const name of Object.keys(counts) as (keyof typeof counts)[]) report[name] += counts[name];
  for (const one of skipped.slice(0, MAX_LISTED - report.skipped.length)) {
    report.skipped.push({ ...one, line: before + one.line });
  }
}

/** Adds the number of earlier lines to an error: the error itself counts from the start of its part. */
function failAfter(before: number) {
  return (error: unknown): never => {
    if (before === 0 || !(error instanceof CtxdError)) throw error;
    const { code, message, ...rest } = error;
    throw new CtxdError(code, `After line ${before}: ${message}`, { ...rest, cause: error });
  };
}

type Line = Uint8Array<ArrayBuffer>;

async function* readParts(lines: AsyncIterable<Line>): AsyncGenerator<Line[]> {
  let part: Line[] = [];
  let bytes = 0;
  for await (const line of lines) {
    const isFull = part.length >= PART.lines || bytes + line.length > PART.bytes;
    const last = part.at(-1);
    if (last && isFull && (bytes > MAX_TIED_PART_BYTES || !isTied(last, line))) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(line);
    bytes += line.length;
  }
  if (part.length > 0) yield part;
}

/**
 * Whether two lines are turns of one session with the same time and without ids. The server keeps
 * their order only within one request.
 */
function isTied(one: Line, other: Line): boolean {
  const tie = tieOf(one);
  return tie !== null && tie === tieOf(other);
}

function tieOf(line: Line): string | null {
  try {
    const { id, session_id, created_at } = JSON.parse(new TextDecoder().decode(line));
    return id === undefined && session_id && created_at ? `${session_id} ${created_at}` : null;
  } catch {
    return null;
  }
}

async function* toBytes(source: ImportSource): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const item of itemsOf(source)) {
    if (item instanceof Uint8Array) yield item;
    else yield encoder.encode(typeof item === "string" ? item : `${JSON.stringify(item)}\n`);
  }
}

function itemsOf(source: ImportSource): Iterable<Item> | AsyncIterable<Item> {
  if (typeof source === "string" || source instanceof Uint8Array) return [source];
  if (source instanceof Blob) return readPieces(source.stream());
  if (source instanceof ReadableStream) return readPieces(source);
  return source;
}
