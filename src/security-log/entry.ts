import { EVENTS, type Facts, isForeign, type SecurityEvent } from "./events.ts";

/** An event as it is kept: harmless, of bounded size, and counted. */
export interface Entry extends Required<Facts> {
  readonly event: SecurityEvent;
  /** Milliseconds since 1970. */
  readonly at: number;
}

const MAX_AGENT = 200;
const MAX_SUBJECT = 100;
/** Control and format characters, separators of lines, and halves of pairs. */
const HARMFUL = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;

/** The event without what could break a line, hide a part of one, or fill the disk. */
export function toEntry(event: SecurityEvent, facts: Facts, at: number): Entry {
  return {
    event,
    at,
    accountId: facts.accountId,
    actorId: facts.actorId === facts.accountId ? null : (facts.actorId ?? null),
    via: facts.via,
    address: facts.address ?? null,
    agent: harmless(facts.agent, MAX_AGENT),
    // Not every database can keep it.
    subjectId: facts.subjectId?.replaceAll("\0", "\uFFFD") ?? null,
    subject: harmless(facts.subject, MAX_SUBJECT),
    amount: facts.amount ?? null,
  };
}

/** An entry that stands for many, of which only event and account are told. */
export function withoutParticulars(entry: Entry): Entry {
  return { ...entry, actorId: null, address: null, agent: null, subjectId: null, subject: null };
}

/** Events with the same name are told as one within a minute. */
export function nameOf({ event, accountId, actorId, via, address, subjectId, subject }: Entry) {
  return JSON.stringify([event, accountId, actorId, via, address, subjectId, subject]);
}

/**
 * The event for a line of the log. What anyone can choose comes last and between quotes, so that a
 * pattern that begins at the line's begin can't be deceived by it.
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

/** Lines that an entry may take in the log within its minute; more are counted. */
export function linesOf(event: SecurityEvent): number {
  const { lines } = { lines: 20, ...EVENTS[event] };
  return lines;
}

/** Whose events count together against a flood: those of one account, or those that anyone can cause. */
export function groupOf({ event, accountId }: Entry): string {
  return isForeign(event) ? "foreign" : (accountId ?? "none");
}

function harmless(text: string | null | undefined, longest: number): string | null {
  if (text === null || text === undefined) return null;
  return [...text.slice(0, 2 * longest)].slice(0, longest).join("").replaceAll(HARMFUL, "\uFFFD");
}
