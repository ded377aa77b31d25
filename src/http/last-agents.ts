import { LRUCache } from "lru-cache";

/** Accounts whose last agent is remembered, and characters of its name. */
const MOST_ACCOUNTS = 10_000;
const MOST_CHARACTERS = 80;

/** An agent that sent a message. */
export interface Arrival {
  /** The name that it gives itself; null without one. */
  readonly name: string | null;
  readonly at: Date;
}

export type LastAgents = ReturnType<typeof createLastAgents>;

/**
 * Remembers the last agent of each account since the start, to show people who connect an agent that it
 * works.
 */
export function createLastAgents({ clock }: { clock: () => number }) {
  const last = new LRUCache<string, Arrival>({ max: MOST_ACCOUNTS });
  return {
    /** @param name any text */
    note(accountId: string, name: string | null): void {
      // Later messages of an agent may lack its name.
      const known = name?.trim().slice(0, MOST_CHARACTERS) || last.get(accountId)?.name || null;
      last.set(accountId, { name: known, at: new Date(clock()) });
    },

    /** The last agent; null without one. */
    last: (accountId: string): Arrival | null => last.get(accountId) ?? null,
  };
}
