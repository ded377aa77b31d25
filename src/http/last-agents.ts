import { LRUCache } from "lru-cache";

/** Accounts whose last agent is remembered, and characters of its name. */
const MOST_ACCOUNTS = 10_000;
const MOST_CHARACTERS = 80;

/** An agent that has come. */
export interface Arrival {
  /** What it calls itself; null where it does not. */
  readonly name: string | null;
  readonly at: Date;
}

export type LastAgents = ReturnType<typeof createLastAgents>;

/** Remembers, since the start, which agent came last to each account, so that who connects one sees it. */
export function createLastAgents({ clock }: { clock: () => number }) {
  const last = new LRUCache<string, Arrival>({ max: MOST_ACCOUNTS });
  return {
    /** @param name any text */
    note(accountId: string, name: string | null): void {
      // Later messages of an agent need not say who it is.
      const known = name?.trim().slice(0, MOST_CHARACTERS) || last.get(accountId)?.name || null;
      last.set(accountId, { name: known, at: new Date(clock()) });
    },

    /** The one that came last; null for none. */
    last: (accountId: string): Arrival | null => last.get(accountId) ?? null,
  };
}
