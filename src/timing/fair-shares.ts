/** Stands for everyone. */
const ALL = "";

/**
 * Divides a limit, such as of memory or of waiting work. An account may take half of what other accounts leave, one of its
 * keys half of what the account's other keys leave, and so on. So nobody alone takes all of it, and whoever comes
 * next finds room.
 */
export function createFairShares(limit: number) {
  const taken = new Map<string, number>();
  const of = (name: string): number => taken.get(name) ?? 0;

  return {
    /** What a name has taken; by default everyone. */
    taken: (name = ALL): number => of(name),

    /**
     * Whether more would still be within each share.
     * @param names who takes it, each within the one before it; none occurs elsewhere
     */
    allows(names: readonly string[], amount: number): boolean {
      let room = limit;
      let parent = of(ALL);
      for (const name of names) {
        const own = of(name);
        room = (room - (parent - own)) / 2;
        if (own + amount > room) return false;
        parent = own;
      }
      return true;
    },

    /** Adds to what names have taken, or gives it back if the amount is negative. */
    add(names: readonly string[], amount: number): void {
      for (const name of [ALL, ...names]) {
        const next = of(name) + amount;
        if (next > 0) taken.set(name, next);
        else taken.delete(name);
      }
    },
  };
}
