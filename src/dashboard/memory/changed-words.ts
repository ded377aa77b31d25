/** Consecutive words that both texts have, or only one of them. */
export interface Run {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Longer texts are not compared. */
const MAX_CHARACTERS = 4_000;
/** Words that are compared after the common beginning and end are left out. */
const MAX_WORDS = 300;
/** The share of the shorter text that must be unchanged. Below it, a list of changes does not help. */
const MIN_SAME = 0.4;

const WORDS = new Intl.Segmenter("en", { granularity: "word" });

/**
 * The changes between two texts, word by word; `null` if the texts have too little in common or are too long to
 * compare.
 */
export function changedWords(before: string, after: string): Run[] | null {
  if (Math.max(before.length, after.length) > MAX_CHARACTERS) return null;
  const [old, next] = [wordsOf(before), wordsOf(after)];
  const most = Math.min(old.length, next.length);
  let first = 0;
  while (first < most && isSame(old[first], next[first])) first++;
  let last = 0;
  while (last < most - first && isSame(old.at(-1 - last), next.at(-1 - last))) last++;
  const removed = old.slice(first, old.length - last);
  const added = next.slice(first, next.length - last);
  if (Math.max(removed.length, added.length) > MAX_WORDS) return null;
  const runs: Run[] = [];
  append(runs, "same", next.slice(0, first));
  compare(removed, added, runs);
  append(runs, "same", next.slice(next.length - last));
  const same = runs.reduce((sum, { kind, text }) => sum + (kind === "same" ? text.length : 0), 0);
  return same >= MIN_SAME * Math.min(before.length, after.length) ? runs : null;
}

/** By the longest common subsequence (Wagner & Fischer, "The String-to-String Correction Problem", 1974). */
function compare(removed: readonly string[], added: readonly string[], runs: Run[]): void {
  const width = added.length + 1;
  /** Length of the longest common subsequence of the rest of both lists, for each pair of positions. */
  const shared = new Uint16Array((removed.length + 1) * width);
  const at = (row: number, column: number) => shared[row * width + column] ?? 0;
  for (let row = removed.length - 1; row >= 0; row--) {
    for (let column = added.length - 1; column >= 0; column--) {
      shared[row * width + column] = isSame(removed[row], added[column])
        ? at(row + 1, column + 1) + 1
        : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  let [row, column] = [0, 0];
  for (;;) {
    const [old, next] = [removed[row], added[column]];
    if (old === undefined && next === undefined) return;
    if (isSame(old, next)) {
      append(runs, "same", [next ?? ""]);
      row++;
      column++;
    } else if (
      next === undefined ||
      (old !== undefined && at(row + 1, column) >= at(row, column + 1))
    ) {
      append(runs, "removed", [old ?? ""]);
      row++;
    } else {
      append(runs, "added", [next]);
      column++;
    }
  }
}

function append(runs: Run[], kind: Run["kind"], words: readonly string[]): void {
  if (words.length === 0) return;
  const last = runs.at(-1);
  if (last?.kind === kind) last.text += words.join("");
  else runs.push({ kind, text: words.join("") });
}

/** Compares two words without the space after them. */
function isSame(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one.trimEnd() === other.trimEnd();
}

/** Splits a text into words and punctuation marks, each with the space after it. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const { segment } of WORDS.segment(text)) {
    if (words.length > 0 && segment.trim() === "") words[words.length - 1] += segment;
    else words.push(segment);
  }
  return words;
}
