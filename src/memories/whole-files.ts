import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { extname, join } from "node:path";

/**
 * LanceDB does not notice when the last write to a file fails, on a full disk say: it makes the file
 * part of the table, and the table can't be read any more. Each file has a mark at its end.
 */
const MARKS: Readonly<Record<string, string>> = {
  ".lance": "LANC",
  ".idx": "LANC",
  ".manifest": "LANC",
  ".arrow": "ARROW1",
};

/** A file of a table was not written to its end. */
export class TornFile extends Error {
  override readonly name = "TornFile";
  constructor(path: string) {
    super(`${path} was not written to its end: the disk is full or reports errors`);
  }
}

/** @throws TornFile when a file of LanceDB, whatever kind it is, is there and lacks its end */
export function requireWhole(path: string): void {
  if (!existsSync(path)) return;
  const mark = MARKS[extname(path)] ?? "";
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const end = Buffer.alloc(mark.length);
    readSync(file, end, 0, end.length, Math.max(0, size - end.length));
    if (size === 0 || end.toString("latin1") !== mark) throw new TornFile(path);
  } finally {
    closeSync(file);
  }
}

/** The folders in a table's that a commit of memories adds files to. */
const WRITTEN = ["data", "_deletions"];

/** Checks the files that are added to a table's folder from now on. */
export function watchNewFiles(folder: string) {
  const list = () => WRITTEN.flatMap((name) => filesIn(join(folder, name)));
  let known = new Set(list());

  return {
    /** @throws TornFile when one of those that came since it was last asked lacks its end */
    requireWhole(): void {
      const present = list();
      const added = present.filter((path) => !known.has(path));
      known = new Set(present);
      for (const path of added) requireWhole(path);
    },
  };
}

/** Files that are said to be whole: the names of those under way begin with a full stop. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => !name.startsWith("."));
  return names.map((name) => join(folder, name));
}
