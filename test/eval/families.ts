import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Half, readBlocks } from "./own-sets.ts";

const FOLDER = join(import.meta.dir, "families");

/** What the later of two texts is to the earlier one, and the family that both are of. */
export interface FamilyPair {
  kind: "same" | "changed" | "other";
  earlier: string;
  later: string;
  family: string;
}

/** Wordings of one fact, texts that change it one after the other, and facts that look like it. */
interface Family {
  name: string;
  /** Questions that all of them answer but for the look-alikes. */
  questions: string[];
  same: string[];
  changes: string[];
  others: string[];
}

/** The families of `families/`; the model of relations does not learn from those of files that end in `-held`. */
export async function readFamilies(half: Half): Promise<Family[]> {
  const families: Family[] = [];
  for (const file of (await readdir(FOLDER)).sort()) {
    if (!file.endsWith(".txt") || file.endsWith("-held.txt") !== (half === "held")) continue;
    for (const [name, ...lines] of await readBlocks(file, FOLDER)) {
      const marked = (mark: string) =>
        lines.filter(({ sign }) => sign === mark).map(({ text }) => text);
      families.push({
        name: `${file}: ${name?.text}`,
        questions: marked("?"),
        same: marked("="),
        changes: marked("~"),
        others: marked("+"),
      });
    }
  }
  return families;
}

/** All pairs of the texts of a family of which the later one's kind is known. */
export async function readFamilyPairs(half: Half): Promise<FamilyPair[]> {
  return (await readFamilies(half)).flatMap(({ name, same, changes, others }) => {
    const pairs: FamilyPair[] = [];
    const add = (kind: FamilyPair["kind"], earlier: string, later: string) =>
      pairs.push({ kind, earlier, later, family: name });
    for (const [at, text] of same.entries()) {
      for (const other of same.slice(at + 1)) {
        add("same", text, other);
        add("same", other, text);
      }
      for (const later of changes) add("changed", text, later);
    }
    for (const [at, text] of changes.entries()) {
      for (const later of changes.slice(at + 1)) add("changed", text, later);
    }
    // In one order each: there are many of them.
    for (const [at, text] of [...same, ...changes].entries()) {
      for (const [place, other] of others.entries()) {
        if ((at + place) % 2 === 0) add("other", text, other);
        else add("other", other, text);
      }
    }
    return pairs;
  });
}
