import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openSource } from "../../src/import/open-source.ts";
import type { ImportedMemory } from "../../src/memories/memory.ts";
import { temporaryFolder } from "./database.ts";

/** What an import would send of a source, and what it would report. */
export async function readSource(path: string) {
  const source = await openSource(path);
  const memories: ImportedMemory[] = [];
  const places: string[] = [];
  const problems: string[] = [];
  const notes: string[] = [];
  for await (const found of source.lines) {
    if ("problem" in found) problems.push(`${found.at}: ${found.problem}`);
    else {
      memories.push(JSON.parse(found.line));
      places.push(found.at);
      notes.push(...found.notes);
    }
  }
  return { name: source.name, remarks: source.remarks, memories, places, problems, notes };
}

/** The same of a file with this content. */
export async function readContent(content: string | Uint8Array, name = "file") {
  const path = join(temporaryFolder(), name);
  writeFileSync(path, content);
  return readSource(path);
}
