import type { Credential } from "../keys/reach.ts";

/** Kinds of actions on memories. */
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

/** Kinds of actions that are questions: they find memories or nothing. */
export const QUESTIONS: readonly Kind[] = ["searched", "recalled"];

/** An action of a source on the memories of an account. */
export interface Action {
  readonly accountId: string;
  readonly kind: Kind;
  /** The key, app or local agents. For the person in the dashboard, its id is the account's. */
  readonly source: Credential;
  /** The name of the agent, if it gave one. */
  readonly agent: string | null;
  /** The number of memories that were saved, found, and so on. */
  readonly memories: number;
  /** The last memory that was saved or changed, or the best one that was found. */
  readonly memoryId: string | null;
  /** The text of the question. It is kept only for accounts that turned this on. */
  readonly query: string | null;
}

/** Several equal actions. */
export interface CountedAction extends Action {
  /** The time of the last one, in milliseconds since 1970. */
  readonly at: number;
  readonly times: number;
  /** The number of questions among them that found nothing. */
  readonly inVain: number;
}

type Counts = Pick<CountedAction, "memoryId" | "times" | "inVain" | "memories">;

/** Adds two counts of equal actions. */
export function addCounts<Counted extends Counts>(former: Counted, later: Counted): Counted {
  return {
    ...later,
    memoryId: later.memoryId ?? former.memoryId,
    times: former.times + later.times,
    inVain: former.inVain + later.inVain,
    memories: former.memories + later.memories,
  };
}

/** The key under which equal actions are counted together. */
export function groupKey({ accountId, kind, source, agent, query }: Action): string {
  return JSON.stringify([accountId, kind, source.id, agent, query]);
}

/** The day of a time in milliseconds, in UTC: `2026-11-21`. */
export function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}
