import type { Recalled } from "./agents.ts";
import type { Exchange, Year } from "./talk.ts";
import { type Fact, holdsAt, isKept, type Said, versionAt } from "./truth.ts";

/** Characters of a token, about. */
const TOKEN = 4;

/** What was wrong with a line. */
export type Fault = "stale" | "repeated" | "unrelated";

/** A line of a recalled text that should not have come, or a fact that should have. */
export interface RecallFault {
  fault: Fault | "missing";
  at: string;
  prompt: string | null;
  line: string;
}

/** What a month's recall was like. */
export function createRecallFigures(year: Year) {
  const at = { begin: emptyFigures(), prompt: emptyFigures() };
  const faults: RecallFault[] = [];

  const addText = (recalled: Recalled, seen: Set<string>, received: Set<Fact>) => {
    const { exchange, lines } = recalled;
    const figures = at[exchange ? "prompt" : "begin"];
    // What the prompt itself says is not known yet.
    const now = exchange ? exchange.at - 1 : recalled.session.at;
    const report = (fault: RecallFault["fault"], line: string) =>
      faults.push({ fault, at: new Date(now).toISOString(), prompt: exchange?.user ?? null, line });
    figures.texts += 1;
    figures.tokens += recalled.text.length / TOKEN;
    figures.lines += lines.length;
    for (const { content } of lines) {
      for (const fault of faultsOf(content, { year, exchange, now, seen })) {
        figures[fault] += 1;
        report(fault, content);
      }
    }
    const holding = heldFacts(year, recalled, now);
    const wanted = wantedFacts(year, recalled, now).filter((fact) => !received.has(fact));
    const missing = wanted.filter((fact) => !holding.includes(fact));
    for (const { id } of missing) report("missing", id);
    figures.wanted += wanted.length;
    figures.came += wanted.length - missing.length;
    for (const fact of holding) received.add(fact);
  };

  /** Counts what was recalled in a session. */
  const addSession = (all: readonly Recalled[]) => {
    const seen = new Set<string>();
    const received = new Set<Fact>();
    for (const recalled of all) {
      addText(recalled, seen, received);
      // The agent has also heard what was said in the session itself.
      if (recalled.exchange?.said) received.add(recalled.exchange.said.fact);
    }
  };

  return { at, faults, addSession };
}

/** The facts of which a recalled text says what holds. */
function heldFacts(year: Year, { lines }: Recalled, now: number): Fact[] {
  return lines
    .flatMap(({ content }) => year.saidIn(content) ?? [])
    .filter((said) => holdsAt(said, now))
    .map(({ fact }) => fact);
}

/** @param seen what earlier lines of the session said */
function faultsOf(
  content: string,
  {
    year,
    exchange,
    now,
    seen,
  }: { year: Year; exchange: Exchange | null; now: number; seen: Set<string> },
): Fault[] {
  const said = year.saidIn(content);
  const about = exchange?.asked ?? exchange?.said?.fact ?? null;
  const key = said ? `${said.fact.id} ${said.version}` : content;
  const found: Record<Fault, boolean> = {
    stale: said !== null && !holdsAt(said, now),
    repeated: seen.has(key),
    unrelated: !isRelated(said, about, exchange === null),
  };
  seen.add(key);
  return (["stale", "repeated", "unrelated"] as const).filter((fault) => found[fault]);
}

/** What should come: at a beginning the saved preferences, for a prompt what it asks for, if that is kept. */
function wantedFacts(year: Year, { session, exchange }: Recalled, now: number): Fact[] {
  if (exchange) {
    const { asked } = exchange;
    const version = asked && versionAt(asked, now);
    return asked && version && isKept(version, now) ? [asked] : [];
  }
  return year.facts.filter(
    (fact) => fact.isPreference && fact.person === session.person && versionAt(fact, now)?.isSaved,
  );
}

export interface RecallFigures {
  texts: number;
  lines: number;
  tokens: number;
  stale: number;
  repeated: number;
  unrelated: number;
  /** Facts that should have come, and those of them that did. */
  wanted: number;
  came: number;
}

function emptyFigures(): RecallFigures {
  return { texts: 0, lines: 0, tokens: 0, stale: 0, repeated: 0, unrelated: 0, wanted: 0, came: 0 };
}

/** At a beginning any fact is related; for a prompt one about the same thing, or of the same kind. */
function isRelated(said: Said | null, about: Fact | null, isBeginning: boolean): boolean {
  if (!said) return false;
  if (isBeginning) return true;
  if (!about) return false;
  const { attribute, thing } = said.fact;
  return attribute.en === about.attribute.en || thing.subject === about.thing.subject;
}
