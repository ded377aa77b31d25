import { dirname, join } from "node:path";
import { readSmallText } from "../../system/regular-file.ts";
import { readByteLines, TOO_LONG } from "../../text/lines.ts";
import { readText } from "../files/input-file.ts";
import { type JsonObject, objectsOf, parseObject } from "../files/json-objects.ts";
import { placeIn, type TextSource } from "../files/source.ts";
import type { Context, Format, Found } from "../formats/format.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { gemini, readConversation } from "./gemini.ts";
import {
  isCompressed,
  MAX_TRANSCRIPT_LINE,
  readHead,
  readLines,
  readTranscript,
} from "./transcript-lines.ts";
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

const TRANSCRIPTS: readonly TranscriptFormat[] = [claudeCode, codex, gemini];

/** Bytes of a file with the path of a folder. */
const MAX_PATH_BYTES = 64 << 10;

/** A transcript that is being read. */
interface Reading {
  format: TranscriptFormat;
  /** The turns after the position where the reading began, in order. */
  turns: AsyncGenerator<Turn>;
  /** The position after the turns that `turns` has yielded. */
  position: () => Position;
  /** Number of damaged lines so far. */
  damaged: () => number;
}

/**
 * Opens the transcript of an agent; null when the file is no known transcript.
 * @param from the position where an earlier reading of the same file ended
 * @throws the system's error when the file can't be read
 */
export async function openTranscript(path: string, from = BEGINNING): Promise<Reading | null> {
  const head = await readHead(path);
  const first = objectsOf(head);
  const format = TRANSCRIPTS.find((each) => each.recognises(first, head));
  if (!format) return null;
  // A file that is shorter than the position has been replaced: it is read from the beginning.
  const isShorter = from.offset > (await Bun.file(path).stat()).size && !isCompressed(path);
  const state: State = { position: isShorter ? BEGINNING : from, damaged: 0 };
  return {
    format,
    turns: format.readEntry
      ? readAppended(path, format.readEntry, state)
      : readRewritten(path, state),
    position: () => state.position,
    damaged: () => state.damaged,
  };
}

interface State {
  position: Position;
  damaged: number;
}

/** Reads a transcript whose lines are only appended, from the position on. */
async function* readAppended(
  path: string,
  readEntry: NonNullable<TranscriptFormat["readEntry"]>,
  state: State,
): AsyncGenerator<Turn> {
  // The position of the lines read; `state.position` is that of the turns yielded.
  const position = { ...state.position };
  const builder = createTurnBuilder(position);
  const after = (turn: Turn, offset: number): Turn => {
    state.position = { ...position, offset, at: timeOf(turn.at) ?? state.position.at };
    return turn;
  };
  for await (const { bytes, start, end, isEnded } of readLines(path, position.offset)) {
    const value = bytes && parseObject(bytes.toString());
    if (!value) {
      // The agent is still writing this line. The next reading takes it.
      if (!isEnded) break;
      if (bytes === null || bytes.toString().trim() !== "") state.damaged++;
    }
    const part = value && readEntry({ value, start, end }, position);
    const turn = part && builder.add(part);
    if (turn) yield after(turn, start);
    position.offset = end;
  }
  const turn = builder.close();
  if (turn) yield after(turn, position.offset);
  else state.position = { ...position, at: state.position.at };
}

/** Reads a transcript that its agent may rewrite: all of it, then the turns after the position's time. */
async function* readRewritten(path: string, state: State): AsyncGenerator<Turn> {
  const position = { ...state.position, folder: state.position.folder ?? (await folderOf(path)) };
  const text = (await readTranscript(path)).toString();
  const whole = parseObject(text);
  const lines = whole
    ? [whole]
    : text.split("\n").flatMap((line, index, all): JsonObject[] => {
        if (line.trim() === "") return [];
        const value = parseObject(line);
        const isBeingWritten = index === all.length - 1;
        if (!value && !isBeingWritten) state.damaged++;
        return value ? [value] : [];
      });
  const since = state.position.at ?? Number.NEGATIVE_INFINITY;
  const parts = readConversation(lines, position).filter(
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
): AsyncGenerator<Found> {
  const onDisk = source.path === undefined ? null : await openTranscript(source.path);
  let damaged = 0;
  const onDamage = () => void damaged++;
  const turns =
    onDisk?.turns ??
    (format.readEntry
      ? readAppendedUpload(source, format.readEntry, onDamage)
      : readRewrittenUpload(source, onDamage));
  let count = 0;
  for await (const turn of turns) {
    const { folder } = turn;
    const memory = turnMemory(format.agent, turn);
    const project = folder === null ? null : await context.projectOf(folder);
    yield { at: placeIn(source, `turn ${++count}`), memory: { ...memory, project } };
  }
  const lines = damaged + (onDisk?.damaged() ?? 0);
  const at = placeIn(source, "");
  for (let n = 0; n < lines; n++) yield { at, leftOut: "damaged lines of transcripts" };
}

/** Reads an uploaded or archived transcript whose lines are only appended. */
async function* readAppendedUpload(
  { bytes }: TextSource,
  readEntry: ReadEntry,
  onDamage: () => void,
): AsyncGenerator<Turn> {
  const position = { ...BEGINNING };
  const builder = createTurnBuilder(position);
  let start = 0;
  for await (const line of readByteLines(bytes, MAX_TRANSCRIPT_LINE)) {
    const value = line === TOO_LONG ? null : parseObject(line.toString());
    const end = start + (line === TOO_LONG ? 0 : line.length) + 1;
    if (value === null && (line === TOO_LONG || line.toString().trim() !== "")) onDamage();
    const part = value && readEntry({ value, start, end }, position);
    const turn = part && builder.add(part);
    if (turn) yield turn;
    start = end;
  }
  const turn = builder.close();
  if (turn) yield turn;
}

/** Reads an uploaded or archived transcript that its agent may have rewritten. */
async function* readRewrittenUpload(
  source: TextSource,
  onDamage: () => void,
): AsyncGenerator<Turn> {
  const { lines } = await readText(source);
  const whole = parseObject(lines.join("\n"));
  const values = whole
    ? [whole]
    : lines.flatMap((line): JsonObject[] => {
        if (line?.trim() === "") return [];
        const value = line === null ? null : parseObject(line);
        if (value !== null) return [value];
        onDamage();
        return [];
      });
  const position = { ...BEGINNING };
  const builder = createTurnBuilder(position);
  for (const part of readConversation(values, position)) {
    const turn = builder.add(part);
    if (turn) yield turn;
  }
  const turn = builder.close();
  if (turn) yield turn;
}
