import { createReadStream } from "node:fs";
import { dirname, join } from "node:path";
import { openRegular, readSmallText, readWhole } from "../../system/regular-file.ts";
import { type ByteLine, readByteLines } from "../../text/lines.ts";
import { type JsonObject, parseObject } from "../../text/parse-json.ts";
import { readText } from "../files/input-file.ts";
import { locationIn, objectsOf, peek, type TextSource, unpackZstd } from "../files/source.ts";
import type { Context, Format, FoundEntry } from "../formats/format.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { gemini, readConversation } from "./gemini.ts";
import { messageLines } from "./message-lines.ts";
import {
  BEGINNING,
  createTurnBuilder,
  type Position,
  type ReadEntry,
  type TranscriptFormat,
  type Turn,
  timeOf,
  turnMemory,
} from "./turn.ts";

/** Lines of Qwen Code have all that those of Claude Code are recognised by. */
const TRANSCRIPTS: readonly TranscriptFormat[] = [...messageLines, claudeCode, codex, gemini];

/** Bytes of a file with the path of a folder. */
const MAX_PATH_BYTES = 64 << 10;

interface TranscriptReading {
  format: TranscriptFormat;
  /** The turns after the position where the reading began, in order. */
  turns: AsyncGenerator<Turn>;
  /** The position after the turns that `turns` has yielded. */
  position: () => Position;
  /** Number of damaged lines so far. */
  damaged: () => number;
}

/** The transcripts of agents. Turns that were captured before become the same memories. */
export const transcriptFormats: readonly Format[] = TRANSCRIPTS.map((format) => ({
  name: format.name,
  origin: format.agent,
  recognises: (head) => format.recognises(objectsOf(head), head),
  read: (source, context) => readTurns(format, source, context),
}));

async function* readTurns(
  format: TranscriptFormat,
  source: TextSource,
  context: Context,
): AsyncGenerator<FoundEntry> {
  const onDisk = source.path === undefined ? null : await openTranscript(source.path);
  const { turns, damaged } = onDisk ?? (await openUpload(format, source));
  let count = 0;
  for await (const turn of turns) {
    const { folder } = turn;
    const memory = turnMemory(format.agent, turn);
    const project = folder === null ? null : await context.projectOf(folder);
    yield { at: locationIn(source, `turn ${++count}`), memory: { ...memory, project } };
  }
  const at = locationIn(source, "");
  for (let n = damaged(); n > 0; n--) yield { at, leftOut: "damaged lines of transcripts" };
}

/** Opens an uploaded or archived transcript. Nobody is writing it, so its last line is complete. */
async function openUpload(
  format: TranscriptFormat,
  source: TextSource,
): Promise<TranscriptReading> {
  const state: State = { position: BEGINNING, damaged: 0, isComplete: true };
  if (!format.readEntry) {
    return toReading(format, readRewritten((await readText(source)).lines, state), state);
  }
  const lines = readByteLines(source.bytes, MAX_TRANSCRIPT_LINE);
  return toReading(format, readAppended(lines, format.readEntry, state), state);
}

/**
 * Opens the transcript of an agent; null when the file is no known transcript.
 * @param from the position where an earlier reading of the same file ended
 * @throws the system's error when the file can't be read
 */
export async function openTranscript(
  path: string,
  from = BEGINNING,
): Promise<TranscriptReading | null> {
  const head = await readHead(path);
  const first = objectsOf(head);
  const format = TRANSCRIPTS.find((each) => each.recognises(first, head));
  if (!format) return null;
  // A file that is shorter than the position has been replaced: it is read from the beginning.
  const isShorter = from.offset > (await Bun.file(path).stat()).size && !isCompressed(path);
  const state: State = { position: isShorter ? BEGINNING : from, damaged: 0, isComplete: false };
  if (format.readEntry) {
    const lines = readLines(path, state.position.offset);
    return toReading(format, readAppended(lines, format.readEntry, state), state);
  }
  const folder = state.position.folder ?? (await folderOf(path));
  const lines = (await readWholeTranscript(path)).toString().split("\n");
  return toReading(format, readRewritten(lines, state, folder), state);
}

interface State {
  position: Position;
  damaged: number;
  /** Whether the last line is complete. Otherwise the agent may still be writing it. */
  isComplete: boolean;
}

function toReading(
  format: TranscriptFormat,
  turns: AsyncGenerator<Turn>,
  state: State,
): TranscriptReading {
  return { format, turns, position: () => state.position, damaged: () => state.damaged };
}

/** Reads a transcript whose lines are only appended. @param lines those after the position */
async function* readAppended(
  lines: AsyncIterable<ByteLine>,
  readEntry: ReadEntry,
  state: State,
): AsyncGenerator<Turn> {
  // The position of the lines read; `state.position` is that of the turns yielded.
  const position = { ...state.position };
  const builder = createTurnBuilder(position);
  const after = (turn: Turn, offset: number): Turn => {
    state.position = { ...position, offset, at: timeOf(turn.at) ?? state.position.at };
    return turn;
  };
  for await (const { bytes, start, end, isEnded } of lines) {
    const value = bytes && parseObject(bytes.toString());
    if (!value) {
      // The next reading takes a line that the agent is still writing.
      if (!isEnded && !state.isComplete) break;
      if (bytes === null || bytes.toString().trim() !== "") state.damaged++;
    }
    const part = value && readEntry({ value, start }, position);
    const turn = part && builder.add(part);
    if (turn) yield after(turn, start);
    position.offset = end;
  }
  const turn = builder.close();
  if (turn) yield after(turn, position.offset);
  else state.position = { ...position, at: state.position.at };
}

/**
 * Reads a transcript that its agent may rewrite: the turns after the position's time.
 * @param lines all of them; null for an unreadable one
 */
async function* readRewritten(
  lines: readonly (string | null)[],
  state: State,
  folder: string | null = null,
): AsyncGenerator<Turn> {
  const position = { ...state.position, folder };
  const whole = parseObject(lines.join("\n"));
  const values = whole
    ? [whole]
    : lines.flatMap((line, index): JsonObject[] => {
        if (line?.trim() === "") return [];
        const value = line === null ? null : parseObject(line);
        const mayBeUnfinished = !state.isComplete && index === lines.length - 1;
        if (!value && !mayBeUnfinished) state.damaged++;
        return value ? [value] : [];
      });
  const since = state.position.at ?? Number.NEGATIVE_INFINITY;
  const parts = readConversation(values, position).filter(
    ({ at }) => (timeOf(at) ?? Number.POSITIVE_INFINITY) > since,
  );
  const builder = createTurnBuilder(position);
  for (const part of parts) {
    const turn = builder.add(part);
    if (turn) yield turn;
    state.position = { ...position, offset: 0, at: timeOf(part.at) ?? state.position.at };
  }
  const turn = builder.close();
  if (turn) yield turn;
}

/** The working folder of Gemini CLI, which it writes to a file beside its chats. */
async function folderOf(path: string): Promise<string | null> {
  const file = join(dirname(dirname(path)), ".project_root");
  const folder = ((await readSmallText(file, MAX_PATH_BYTES)) ?? "").trim();
  return folder === "" ? null : folder;
}

/** Bytes of a line. Longer lines hold output of tools and are skipped. */
const MAX_TRANSCRIPT_LINE = 16 << 20;
/** Bytes that identify a format. The first message may contain long instructions. */
const HEAD = 1 << 18;
/** Bytes of a transcript that must be read as a whole. */
const MAX_WHOLE_BYTES = 64 << 20;

/** The lines of a file from an offset on. Reads lazily. */
function readLines(path: string, from: number): AsyncGenerator<ByteLine> {
  return readByteLines(readChunks(path, from), MAX_TRANSCRIPT_LINE, from);
}

/** Whether a transcript is compressed, as Codex does with old ones. Offsets are those of the text. */
function isCompressed(path: string): boolean {
  return path.endsWith(".zst");
}

async function readHead(path: string): Promise<string> {
  if (isCompressed(path)) {
    const { head, close } = await peek(await unpack(path), () => {});
    await close();
    return Buffer.from(head.subarray(0, HEAD)).toString();
  }
  const file = await openRegular(path);
  try {
    const { buffer, bytesRead } = await file.read({ buffer: new Uint8Array(HEAD) });
    return new TextDecoder().decode(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

async function* readChunks(path: string, from: number): AsyncGenerator<Buffer> {
  if (!isCompressed(path)) return yield* createReadStream(path, { start: from });
  let before = from;
  for await (const piece of await unpack(path)) {
    if (before < piece.length) yield Buffer.from(piece.subarray(before));
    before = Math.max(0, before - piece.length);
  }
}

async function unpack(path: string): Promise<AsyncGenerator<Uint8Array>> {
  return unpackZstd(new Uint8Array(await readWholeTranscript(path)), path);
}

/** All of a file. @throws as `openRegular`, or Error when it is too long */
async function readWholeTranscript(path: string): Promise<Buffer> {
  const bytes = await readWhole(path, MAX_WHOLE_BYTES);
  if (bytes) return bytes;
  throw new Error(`The transcript has more than ${MAX_WHOLE_BYTES} bytes.`);
}
