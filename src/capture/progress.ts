import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { openTranscript } from "../import/transcripts/read-transcript.ts";
import { BEGINNING, type Turn } from "../import/transcripts/turn.ts";
import { hashOf } from "../system/file-digest.ts";
import { replaceFile } from "../system/files.ts";

/** Turns that are saved together; the progress is stored after each batch. */
const BATCH_SIZE = 32;

/** Milliseconds after which the progress of an unused transcript is deleted: 400 days. */
const EXPIRES_AFTER_MS = 400 * 86_400_000;

const Progress = Type.Object({
  offset: Type.Integer({ minimum: 0 }),
  at: Type.Union([Type.Number(), Type.Null()]),
  session: Type.Union([Type.String(), Type.Null()]),
});
/** How far a transcript has been captured. */
type CaptureProgress = Static<typeof Progress>;

export type ProgressFiles = ReturnType<typeof createProgressFiles>;

/**
 * Stores in a folder how far each transcript has been captured, one file for each. The file names do not reveal the
 * paths of the transcripts. A lost file is harmless: the transcript is read again, and its turns get the same
 * ids.
 */
export function createProgressFiles(folder: string) {
  const fileOf = (accountId: string, path: string) =>
    join(folder, `${hashOf(JSON.stringify([accountId, path]))}.json`);
  let isCleaned = false;
  /** Deletes old files, once per start of the program. */
  const deleteExpired = async () => {
    if (isCleaned) return;
    isCleaned = true;
    const files = (await readdir(folder)).map((name) => join(folder, name));
    for (const file of files) {
      const { mtimeMs } = await stat(file);
      if (Date.now() - mtimeMs > EXPIRES_AFTER_MS) await rm(file, { force: true });
    }
  };
  return {
    /** Null for a transcript that was never captured. */
    async find(accountId: string, path: string): Promise<CaptureProgress | null> {
      try {
        const stored: unknown = JSON.parse(await readFile(fileOf(accountId, path), "utf8"));
        return Value.Check(Progress, stored) ? stored : null;
      } catch {
        return null;
      }
    },

    async put(accountId: string, path: string, progress: CaptureProgress): Promise<void> {
      await replaceFile(fileOf(accountId, path), JSON.stringify(progress));
      // Another process may delete the same files.
      await deleteExpired().catch(() => {});
    },
  };
}

/**
 * Saves the turns that were added to a transcript since its last capture, in batches. Nothing for a file that is no
 * known transcript.
 * @param folder the agent's working folder, for turns that have none of their own
 * @param save saves turns after a time, in milliseconds since 1970, and returns the time of the last one
 * @throws the system's error when the file can't be read, and what `save` throws
 */
export async function captureNewTurns(
  {
    progress,
    accountId,
    path,
    folder,
  }: { progress: ProgressFiles; accountId: string; path: string; folder: string | null },
  save: (turns: readonly Turn[], after: number) => Promise<number>,
): Promise<void> {
  const known = await progress.find(accountId, path);
  const reading = await openTranscript(path, known ? { ...known, folder } : BEGINNING);
  if (!reading) return;
  let last = known?.at ?? 0;
  const saveBatch = async (batch: readonly Turn[]) => {
    if (batch.length > 0) last = await save(batch, last);
    const { folder: _, ...position } = reading.position();
    await progress.put(accountId, path, position);
  };
  let batch: Turn[] = [];
  for await (const turn of reading.turns) {
    batch.push(turn);
    if (batch.length < BATCH_SIZE) continue;
    await saveBatch(batch);
    batch = [];
  }
  await saveBatch(batch);
}
