import type { SourceLine } from "./read-files.ts";

/** Groups lines, up to a number of lines or, roughly, a number of characters. */
export async function* inBatches(
  lines: AsyncIterable<SourceLine>,
  limits: { lines: number; characters: number },
): AsyncGenerator<SourceLine[]> {
  let batch: SourceLine[] = [];
  let characters = 0;
  for await (const line of lines) {
    batch.push(line);
    characters += "line" in line ? line.line.length : 0;
    if (batch.length < limits.lines && characters < limits.characters) continue;
    yield batch;
    [batch, characters] = [[], 0];
  }
  if (batch.length > 0) yield batch;
}
