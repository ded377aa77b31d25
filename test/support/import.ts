import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSources } from "../../src/import/open-sources.ts";
import type { Reading } from "../../src/import/read-files.ts";
import { describeFiles } from "../../src/import/transfer.ts";
import type { ImportedMemory } from "../../src/memories/model/memory.ts";
import { temporaryFolder } from "./database.ts";

/** What an import would send of a source, and what it would report. */
export async function readSource(path: string, options: { project?: string } = {}) {
  return readReading(await openSources([path], options));
}

/** The same of what was opened. */
export async function readReading(reading: Reading) {
  const memories: ImportedMemory[] = [];
  const places: string[] = [];
  const problems: string[] = [];
  const notes: string[] = [];
  for await (const found of reading.lines) {
    if ("problem" in found) problems.push(`${found.at}: ${found.problem}`);
    else {
      memories.push(JSON.parse(found.line));
      places.push(found.at);
      notes.push(...found.notes);
    }
  }
  const { files } = reading;
  const leftOut = [...reading.leftOut].map(([reason, count]) => `${reason}: ${count}`);
  const unread = files.flatMap(({ name, problem }) => (problem ? `${name} ${problem}` : []));
  return { name: describeFiles(files), leftOut, unread, memories, places, problems, notes };
}

/** The texts of what would be sent. */
export function contentsOf({ memories }: { memories: readonly { content: string }[] }): string[] {
  return memories.map(({ content }) => content);
}

/** What an import would send of a file with this content. */
export async function readContent(content: string | Uint8Array, name = "file") {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return readSource(path);
}
