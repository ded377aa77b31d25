import { apply, type Call, type Event, type State } from "./history.ts";

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
  return findOrder(search) ? null : told(search);
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

/** A way to go on: a call that may be next, and what it leaves. */
interface Choice {
  calls: Calls;
  index: number;
  after: State;
}

/** A place on the way, after so many calls. */
interface Place {
  /** Number of the first answered call that has no place yet, and of the last that has one. */
  first: number;
  last: number;
  state: State;
  /** What has not been tried from here. What was never answered comes after all else. */
  choices: Choice[];
  hasOpen: boolean;
  /** How it was gone on last. */
  taken: Choice | null;
}

/** Goes on as long as it goes, and back where it does not. */
function findOrder(search: Search): boolean {
  const { answered } = search;
  const begin = enter(search, { first: 0, last: -1, state: new Map(), done: 0 });
  const way: Place[] = begin ? [begin] : [];
  for (let place = way.at(-1); place; place = way.at(-1)) {
    if (place.first === answered.events.length) return true;
    if (place.taken) place.taken.calls.isDone[place.taken.index] = false;
    if (place.choices.length === 0 && !place.hasOpen) addOpen(search, place);
    const choice = place.choices.shift() ?? null;
    place.taken = choice;
    if (choice === null) {
      way.pop();
      continue;
    }
    const { calls, index, after } = choice;
    calls.isDone[index] = true;
    const last = calls === answered ? Math.max(place.last, index) : place.last;
    const next = enter(search, { first: place.first, last, state: after, done: way.length });
    if (next) way.push(next);
  }
  return false;
}

/** @returns null when it has been tried to go on from here */
function enter(
  search: Search,
  { first: from, last, state, done }: Pick<Place, "first" | "last" | "state"> & { done: number },
): Place | null {
  const { answered, open, tried, furthest } = search;
  let first = from;
  while (answered.isDone[first]) first++;
  const held = [...state].map(String).sort().join(" ");
  const key = `${first} ${ahead(answered, first, last)} ${ahead(open, 0, open.events.length)} ${held}`;
  if (tried.has(key)) return null;
  if (tried.add(key).size > MOST) throw new Error("too many orders to try");
  const next = answeredNext(search, first);
  if (done > furthest.done) {
    Object.assign(furthest, { done, state, next: next.map((index) => answered.events[index]) });
  }
  const choices = choicesOf(answered, next, state);
  // What never changes anything can as well come at once, and then nothing else has to be tried.
  const reading = choices.find(
    ({ after, index }) => after === state && hasOneOutcome(answered.events[index]?.call),
  );
  const endOf = ({ index }: Choice) => answered.events[index]?.ended ?? 0;
  return {
    ...{ first, last, state, taken: null },
    choices: reading ? [reading] : choices.sort((a, b) => endOf(a) - endOf(b)),
    hasOpen: reading !== undefined,
  };
}

/** Whether a call does the same wherever its answer is possible. */
function hasOneOutcome(call: Call | undefined): boolean {
  return call !== undefined && !("answer" in call && call.answer === "unknown");
}

function choicesOf(calls: Calls, indexes: readonly number[], state: State): Choice[] {
  return indexes.flatMap((index) => {
    const event = calls.events[index];
    const after = event && apply(state, event.call);
    return after ? [{ calls, index, after }] : [];
  });
}

/** The answered calls that may be next: none of the others was answered before they began. */
function answeredNext({ answered: { events, isDone } }: Search, first: number): number[] {
  const next: number[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (let index = first; index < events.length; index++) {
    const event = events[index];
    if (!event || isDone[index]) continue;
    if (event.began > earliest) break;
    earliest = Math.min(earliest, event.ended);
    next.push(index);
  }
  return next;
}

/** Adds the calls without an answer that may be next, the newest first, if they change anything. */
function addOpen(search: Search, place: Place): void {
  const { answered, open } = search;
  const ends = answeredNext(search, place.first).map((index) => answered.events[index]?.ended ?? 0);
  const earliest = Math.min(...ends);
  const next = open.events.flatMap(({ began }, index) =>
    began <= earliest && !open.isDone[index] ? [index] : [],
  );
  const choices = choicesOf(open, next.reverse(), place.state);
  place.choices.push(...choices.filter(({ after }) => after !== place.state));
  place.hasOpen = true;
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
