import type { Credential } from "../keys/reach.ts";

/** What is told of what is done with memories. */
export const KINDS = [
  "saved",
  "changed",
  "deleted",
  "imported",
  "captured",
  "searched",
  "recalled",
] as const;
export type Kind = (typeof KINDS)[number];

/** Kinds that ask, and so find something or nothing. */
export const ASKING: readonly Kind[] = ["searched", "recalled"];

/** Something that was done with the memories of an account. */
export interface Action {
  readonly accountId: string;
  readonly kind: Kind;
  /** Who did it; the account's own person has the account's id. */
  readonly source: Credential;
  /** The agent, as far as it said which one it is. */
  readonly agent: string | null;
  /** How many memories were saved, found and so on. */
  readonly memories: number;
  /** The last one that was saved or changed, the best one that was found. */
  readonly memoryId: string | null;
  /** What was asked. Kept only for accounts that want it. */
  readonly query: string | null;
}

/** Actions that are alike, as one. */
export interface Counted extends Action {
  /** When the last one was, in milliseconds since 1970. */
  readonly at: number;
  readonly times: number;
  /** How many of them asked and found nothing. */
  readonly inVain: number;
}

/** Two counts of actions that are alike, as one. */
export function together(former: Counted, later: Counted): Counted {
  return {
    ...later,
    memoryId: later.memoryId ?? former.memoryId,
    times: former.times + later.times,
    inVain: former.inVain + later.inVain,
    memories: former.memories + later.memories,
  };
}

/** Actions with the same name are counted as one. */
export function nameOf({ accountId, kind, source, agent, query }: Action): string {
  return JSON.stringify([accountId, kind, source.id, agent, query]);
}

/** The day of a moment, in UTC. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
