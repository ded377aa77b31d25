import { apply, type Event, type State } from "./history.ts";

/** States that are tried before a history is given up. */
const MOST = 500_000;

/**
 * Whether some order of all calls explains every answer, in which no call is before one that was
 * answered before it began (Wing and Gong, "Testing and verifying concurrent objects", 1993, with
 * Lowe's memory of what was tried).
 * @returns null if there is one, or else how far it goes and what could not follow
 */
export function explain(events: readonly Event[]): string | null {
  const ordered = events.toSorted((a, b) => a.began - b.began);
  const [answered, open] = [
    ordered.filter(isAnswered),
    ordered.filter((each) => !isAnswered(each)),
  ];
  const search: Search = {
    answered: { events: answered, isDone: answered.map(() => false) },
    open: { events: open, isDone: open.map(() => false) },
    tried: new Set(),
    furthest: { done: -1, state: new Map(), next: [] },
  };
  return follow(search, { first: 0, last: -1, done: 0, state: new Map() }) ? null : told(search);
}

const isAnswered = ({ ended }: Event) => ended !== Number.POSITIVE_INFINITY;

interface Calls {
  /** In the order in which they began. */
  events: readonly Event[];
  /** Which have their place. */
  isDone: boolean[];
}

interface Search {
  answered: Calls;
  /** Without an answer: each may have its place or none. */
  open: Calls;
  tried: Set<string>;
  furthest: { done: number; state: State; next: readonly Event[] };
}

interface Place {
  /** Number of the first answered call that may have no place yet, and of the last that has one. */
  first: number;
  last: number;
  done: number;
  state: State;
}

interface Candidate {
  calls: Calls;
  index: number;
  event: Event;
}

function follow(search: Search, place: Place): boolean {
  const { answered, open, tried, furthest } = search;
  const { last, done, state } = place;
  let first = place.first;
  while (answered.isDone[first]) first++;
  if (first === answered.events.length) return true;

  const held = [...state].map(String).sort().join(" ");
  const text = `${first} ${ahead(answered, first, last)} ${ahead(open, 0, open.events.length)} ${held}`;
  if (tried.has(text)) return false;
  if (tried.add(text).size > MOST) throw new Error("too many orders to try");
  const next = nextOf(search, first);
  if (done > furthest.done) {
    Object.assign(furthest, { done, state, next: next.map(({ event }) => event) });
  }

  const possible = next.flatMap((candidate) => {
    const after = apply(state, candidate.event.call);
    return after ? [{ ...candidate, after }] : [];
  });
  const go = ({ calls, index, after }: Candidate & { after: State }) => {
    calls.isDone[index] = true;
    const reached = calls === answered ? Math.max(last, index) : last;
    const isExplained = follow(search, { first, last: reached, done: done + 1, state: after });
    calls.isDone[index] = false;
    return isExplained;
  };
  // What changes nothing can as well come at once.
  const reading = possible.find(({ after, calls }) => after === state && calls === answered);
  if (reading) return go(reading);
  // What was never answered comes in only where nothing else explains the rest.
  return possible
    .filter(({ after }) => after !== state)
    .toSorted((a, b) => a.event.ended - b.event.ended || 0)
    .some(go);
}

/** The calls that may be next: none of the others was answered before they began. */
function nextOf({ answered, open }: Search, first: number): Candidate[] {
  const next: Candidate[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (const calls of [answered, open]) {
    for (let index = calls === answered ? first : 0; index < calls.events.length; index++) {
      const event = calls.events[index];
      if (!event || calls.isDone[index]) continue;
      if (event.began > earliest) break;
      earliest = Math.min(earliest, event.ended);
      next.push({ calls, index, event });
    }
  }
  return next;
}

/** Numbers of the calls from `first` to `last` that have their place. */
function ahead({ isDone }: Calls, first: number, last: number): string {
  const numbers: number[] = [];
  for (let index = first; index <= last; index++) if (isDone[index]) numbers.push(index);
  return numbers.join(",");
}

function told({ furthest, tried }: Search): string {
  const lines = furthest.next.map(
    ({ call, began, ended, by }) =>
      `  ${began.toFixed(1)}–${ended.toFixed(1)} ${by}: ${JSON.stringify(call, replacer)}`,
  );
  const held = JSON.stringify(furthest.state, replacer);
  return `no order explains the answers: after ${furthest.done} calls (${tried.size} states tried) there was ${held}, and none of these fits:\n${lines.join("\n")}`;
}

function replacer(_: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
