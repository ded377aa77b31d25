import { EVENTS, type Facts, isForeign, type SecurityEvent } from "./events.ts";

/** An event as it is stored: sanitised, of limited size, and counted. */
export interface Entry extends Required<Facts> {
  readonly event: SecurityEvent;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const MAX_AGENT = 200;
const MAX_SUBJECT = 100;
/** Control and format characters, line separators, and unpaired surrogates. */
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** Removes characters that could break or hide parts of a line, and limits the size. */
export function toEntry(event: SecurityEvent, facts: Facts, at: number): Entry {
  return {
    event,
    at,
    accountId: facts.accountId,
    actorId: facts.actorId === facts.accountId ? null : (facts.actorId ?? null),
    via: facts.via,
    address: facts.address ?? null,
    agent: harmless(facts.agent, MAX_AGENT),
    // Not every database can store them.
    subjectId: facts.subjectId?.replaceAll("\0", "\uFFFD") ?? null,
    subject: harmless(facts.subject, MAX_SUBJECT),
    amount: facts.amount ?? null,
  };
}

/** An entry for many events, which has only their name and account. */
export function withoutParticulars(entry: Entry): Entry {
  return { ...entry, actorId: null, address: null, agent: null, subjectId: null, subject: null };
}

/** Events with the same name count as one within a minute. */
export function nameOf({ event, accountId, actorId, via, address, subjectId, subject }: Entry) {
  return JSON.stringify([event, accountId, actorId, via, address, subjectId, subject]);
}

/**
 * The fields of an event's line. Fields that anyone can choose come last and in quotes, so that they
 * can't deceive a pattern that matches from the start of the line.
 */
export function toFields(entry: Entry, times: number) {
  const { event, address, accountId, actorId, via, subjectId, subject, amount } = entry;
  return {
    kind: event,
    ...(address !== null && { address }),
    ...(accountId !== null && { account: accountId }),
    ...(actorId !== null && { by: actorId }),
    via,
    ...(times > 1 && { times }),
    ...(amount !== null && { amount }),
    ...(subjectId !== null && { id: subjectId }),
    ...(subject !== null && { name: subject }),
  };
}

/** Lines that an entry may have in the log per minute. Further events are only counted. */
export function linesOf(event: SecurityEvent): number {
  const { lines } = { lines: 20, ...EVENTS[event] };
  return lines;
}

/** The group that shares a limit against floods: one account, or everyone who is not signed in. */
export function groupOf({ event, accountId }: Entry): string {
  return isForeign(event) ? "foreign" : (accountId ?? "none");
}

function harmless(text: string | null | undefined, longest: number): string | null {
  if (text === null || text === undefined) return null;
  return [...text.slice(0, 2 * longest)].slice(0, longest).join("").replaceAll(HARMFUL, "\uFFFD");
}
