/** A run of words that two texts share, or that one of them alone has. */
export interface Run {
  kind: "same" | "removed" | "added";
  text: string;
}

/** Characters of a text, and words besides those that both begin and end with, that are compared at the most. */
const MOST_CHARACTERS = 4_000;
const MOST_WORDS = 300;
/** The share of the shorter text that must be the same: of less, the changes tell nothing. */
const LEAST_SAME = 0.4;

const WORDS = new Intl.Segmenter("en", { granularity: "word" });

/**
 * What was changed in a text, word by word; `null` where so little is the same that it is another text, or where
 * too much would have to be compared.
 */
export function changedWords(before: string, after: string): Run[] | null {
  if (Math.max(before.length, after.length) > MOST_CHARACTERS) return null;
  const [old, next] = [wordsOf(before), wordsOf(after)];
  const most = Math.min(old.length, next.length);
  let first = 0;
  while (first < most && isSame(old[first], next[first])) first++;
  let last = 0;
  while (last < most - first && isSame(old.at(-1 - last), next.at(-1 - last))) last++;
  const removed = old.slice(first, old.length - last);
  const added = next.slice(first, next.length - last);
  if (Math.max(removed.length, added.length) > MOST_WORDS) return null;
  const runs: Run[] = [];
  append(runs, "same", next.slice(0, first));
  compare(removed, added, runs);
  append(runs, "same", next.slice(next.length - last));
  const same = runs.reduce((sum, { kind, text }) => sum + (kind === "same" ? text.length : 0), 0);
  return same >= LEAST_SAME * Math.min(before.length, after.length) ? runs : null;
}

/** By the longest common subsequence (Wagner & Fischer, "The String-to-String Correction Problem", 1974). */
function compare(removed: readonly string[], added: readonly string[], runs: Run[]): void {
  const width = added.length + 1;
  /** From one place on in the one and from another on in the other, how many words are the same. */
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

/** The space after a word makes it no other one. */
function isSame(one: string | undefined, other: string | undefined): boolean {
  return one !== undefined && other !== undefined && one.trimEnd() === other.trimEnd();
}

/** Words with the space after them, and marks. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const { segment } of WORDS.segment(text)) {
    if (words.length > 0 && segment.trim() === "") words[words.length - 1] += segment;
    else words.push(segment);
  }
  return words;
}
