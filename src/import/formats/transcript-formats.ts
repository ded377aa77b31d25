import { readByteLines, TOO_LONG } from "../../text/lines.ts";
import { readText } from "../files/input-file.ts";
import { type JsonObject, objectsOf, parseObject } from "../files/json-objects.ts";
import { placeIn, type TextSource } from "../files/source.ts";
import { readConversation } from "../transcripts/gemini.ts";
import { openTranscript, TRANSCRIPTS } from "../transcripts/read-transcript.ts";
import { MAX_TRANSCRIPT_LINE } from "../transcripts/transcript-lines.ts";
import {
  BEGINNING,
  createTurnBuilder,
  type ReadEntry,
  type TranscriptFormat,
  type Turn,
  turnMemory,
} from "../transcripts/turn.ts";
import type { Context, Format, Found } from "./format.ts";

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
      ? readAppended(source, format.readEntry, onDamage)
      : readRewritten(source, onDamage));
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
async function* readAppended(
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
async function* readRewritten(source: TextSource, onDamage: () => void): AsyncGenerator<Turn> {
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
