import type { TextKind } from "./worker-connection.ts";

/** Characters of a text that one run of some 20 ms embeds. */
const MAX_SHORT = 500;
/** How many texts of an account wait before the next one counts as one of many. */
const MAX_LIGHT = 2;
/** Milliseconds for which several accounts count as embedding texts after they did. */
const SHARED_MS = 5_000;

/** The accounts whose texts wait for an engine. */
export function createWaitingAccounts() {
  /** How many texts of each kind an account has waiting. */
  const counts = new Map<string, number>();
  let last = "";
  let sharedUntil = Number.NEGATIVE_INFINITY;

  const count = (flow: string, change: 1 | -1): number => {
    const counted = (counts.get(flow) ?? 0) + change;
    if (counted > 0) counts.set(flow, counted);
    else counts.delete(flow);
    return counted;
  };

  return {
    /**
     * Notes a text that begins to wait.
     * @returns whether it is light, and a function to call when it no longer waits
     */
    enter(type: TextKind, text: string, accountId: string) {
      if (last !== "" && accountId !== last) sharedUntil = performance.now() + SHARED_MS;
      last = accountId;
      const flow = `${type} ${accountId}`;
      const isLight = count(flow, 1) <= MAX_LIGHT && text.length <= MAX_SHORT;
      return { isLight, leave: () => void count(flow, -1) };
    },

    /** Whether more than one account embeds texts. */
    areSeveral: (): boolean => performance.now() < sharedUntil,
  };
}
