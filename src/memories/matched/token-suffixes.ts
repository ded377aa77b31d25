/** Most letters of a group, such as a word in Thai or in hiragana. */
const LONGEST = 30;

/** Groups of letters that are words in scripts without spaces. */
export function createTokenSuffixes() {
  const groups = new Map<string, number>();
  /** For the last letter of groups: the lengths of the groups, as bits. */
  const lengths = new Map<number, number>();

  return {
    add(group: string, number: number) {
      if (group.length > LONGEST) return;
      groups.set(group, number);
      const last = group.charCodeAt(group.length - 1);
      lengths.set(last, (lengths.get(last) ?? 0) | (1 << group.length));
    },

    /** Returns the longest group at the end of a run of letters, and its beginning. */
    find(text: string, start: number, end: number, task: (start: number, number: number) => void) {
      const known = lengths.get(text.charCodeAt(end - 1));
      if (known === undefined) return;
      for (let length = Math.min(LONGEST, end - start); length > 0; length--) {
        if ((known & (1 << length)) === 0) continue;
        const number = groups.get(text.slice(end - length, end));
        if (number !== undefined) return task(end - length, number);
      }
    },
  };
}
