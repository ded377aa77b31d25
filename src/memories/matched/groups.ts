import { groupOf, letterOf } from "./letters.ts";

/** Letters of scripts without spaces that stand together, of one kind. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
/** Letters of a group at the most. */
const LONGEST = 3;

/**
 * The words of a question in scripts without spaces: every two or three letters in a row, as the
 * script needs, stand for a word.
 */
export function createGroups(question: string) {
  const groups = new Map<string, number>();
  /** For the last letter of a group: which lengths there are, as bits. */
  const lengths = new Map<number, number>();

  const add = (group: string) => {
    if (!groups.has(group)) groups.set(group, groups.size);
    const last = group.charCodeAt(group.length - 1);
    lengths.set(last, (lengths.get(last) ?? 0) | (1 << group.length));
  };
  for (const run of question.match(UNSPACED) ?? []) {
    const length = Math.min(run.length, groupOf(letterOf(run.charCodeAt(0))));
    for (let at = 0; at + length <= run.length; at++) add(run.slice(at, at + length));
  }

  return {
    all: [...groups.keys()],
    /** Tells the groups at the end of a run of letters, the longest first, and where each begins. */
    find(text: string, start: number, end: number, task: (start: number, group: number) => void) {
      const known = lengths.get(text.charCodeAt(end - 1));
      if (known === undefined) return;
      for (let length = Math.min(LONGEST, end - start); length > 0; length--) {
        if ((known & (1 << length)) === 0) continue;
        const group = groups.get(text.slice(end - length, end));
        if (group !== undefined) task(end - length, group);
      }
    },
  };
}
