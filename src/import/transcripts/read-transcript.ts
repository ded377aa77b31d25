import { readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isObject, type JsonObject, objectsOf } from "../json-lines.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { gemini, readConversation } from "./gemini.ts";
import { isCompressed, readHead, readLines } from "./transcript-lines.ts";
import {
  BEGINNING,
  createTurnBuilder,
  momentOf,
  type Place,
  type TranscriptFormat,
  type Turn,
} from "./turn.ts";

export const TRANSCRIPTS: readonly TranscriptFormat[] = [claudeCode, codex, gemini];

/** Bytes of a transcript that has to be read as a whole. */
const MAX_WHOLE = 64 << 20;

/** A transcript that is being read. */
export interface Reading {
  format: TranscriptFormat;
  /** What is said after the place where it was begun, in its order. */
  turns: AsyncGenerator<Turn>;
  /** How far everything has been read that `turns` has given so far. */
  place: () => Place;
  /** How many lines are damaged. */
  damaged: () => number;
}

/**
 * Opens the transcript of an agent; null for a file of another kind.
 * @param from where an earlier reading of the same file ended
 * @throws what the system says of a file that can't be read
 */
export async function openTranscript(path: string, from = BEGINNING): Promise<Reading | null> {
  const head = await readHead(path);
  const first = objectsOf(head);
  const format = TRANSCRIPTS.find((each) => each.recognises(first, head));
  if (!format) return null;
  // Somebody has replaced the file by a shorter one.
  const isShorter = from.offset > (await Bun.file(path).stat()).size && !isCompressed(path);
  const state: State = { place: isShorter ? BEGINNING : from, damaged: 0 };
  return {
    format,
    turns: format.readEntry ? appended(path, format.readEntry, state) : rewritten(path, state),
    place: () => state.place,
    damaged: () => state.damaged,
  };
}

interface State {
  place: Place;
  damaged: number;
}

async function* appended(
  path: string,
  readEntry: NonNullable<TranscriptFormat["readEntry"]>,
  state: State,
): AsyncGenerator<Turn> {
  // Of the lines that were read; `state.place` is that of the turns that were given.
  const place = { ...state.place };
  const builder = createTurnBuilder(place);
  const after = (turn: Turn, offset: number): Turn => {
    state.place = { ...place, offset, at: momentOf(turn.at) ?? state.place.at };
    return turn;
  };
  for await (const { bytes, start, end, isEnded } of readLines(path, place.offset)) {
    const value = bytes && parse(bytes);
    if (!value) {
      // What is written at this moment is read the next time.
      if (!isEnded) break;
      if (bytes === null || bytes.toString().trim() !== "") state.damaged++;
    }
    const part = value && readEntry({ value, start, end }, place);
    const turn = part && builder.add(part);
    if (turn) yield after(turn, start);
    place.offset = end;
  }
  const turn = builder.close();
  if (turn) yield after(turn, place.offset);
  else state.place = { ...place, at: state.place.at };
}

async function* rewritten(path: string, state: State): AsyncGenerator<Turn> {
  const { size } = await Bun.file(path).stat();
  if (size > MAX_WHOLE) throw new Error(`a transcript of more than ${MAX_WHOLE} bytes`);
  const place = { ...state.place, folder: state.place.folder ?? (await folderOf(path)) };
  const text = await readFile(path, "utf8");
  const whole = parse(text);
  const lines = whole
    ? [whole]
    : text.split("\n").flatMap((line, index, all): JsonObject[] => {
        if (line.trim() === "") return [];
        const value = parse(line);
        if (!value && index < all.length - 1) state.damaged++;
        return value ? [value] : [];
      });
  const since = state.place.at ?? Number.NEGATIVE_INFINITY;
  const parts = readConversation(lines, place).filter(
    ({ at }) => (momentOf(at) ?? Number.POSITIVE_INFINITY) > since,
  );
  const builder = createTurnBuilder(place);
  for (const part of parts) {
    const turn = builder.add(part);
    if (turn) yield turn;
    state.place = { ...place, offset: 0, at: momentOf(part.at) ?? state.place.at };
  }
  const turn = builder.close();
  if (turn) yield turn;
}

/** The folder that Gemini CLI worked in, which is written beside its chats. */
async function folderOf(path: string): Promise<string | null> {
  const file = join(dirname(dirname(path)), ".project_root");
  const folder = (await readFile(file, "utf8").catch(() => "")).trim();
  return folder === "" ? null : folder;
}

function parse(line: Buffer | string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(line.toString());
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
