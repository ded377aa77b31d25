import { apply, type Call, type Event, type State } from "./history.ts";

/** The most states that are tried for a history. */
const MOST = 500_000;

/**
 * Whether some order of all calls explains every answer, in which no call comes before one that was
 * answered before it began (Wing and Gong, "Testing and verifying concurrent objects", 1993, with Lowe's
 * cache of tried states).
 * @returns null if there is one, or else the longest explained part and the calls that could not follow
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
  /** In the order of their beginnings. */
  events: readonly Event[];
  /** Which answered calls are placed. */
  isDone: boolean[];
}

interface Search {
  answered: Calls;
  /** Calls without an answer: each may be placed or not. */
  open: Calls;
  tried: Set<string>;
  furthest: { done: number; state: State; next: readonly Event[] };
}

/** A possible next call, and the state after it. */
interface Choice {
  calls: Calls;
  index: number;
  after: State;
}

/** A point of the search, after some calls. */
interface Place {
  /** Index of the first answered call that is not placed, and of the last that is. */
  first: number;
  last: number;
  state: State;
  /** Calls that were not tried from here. Unanswered calls come last. */
  choices: Choice[];
  hasOpen: boolean;
  /** The call that was tried last. */
  taken: Choice | null;
}

/** Searches by backtracking. */
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

/** @returns null when this point has been tried */
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
  // A call that changes nothing can come at once; then no other call must be tried.
  const reading = choices.find(
    ({ after, index }) => after === state && hasOneOutcome(answered.events[index]?.call),
  );
  const endOf = ({ index }: Choice) => answered.events[index]?.ended ?? 0;
  return {
    first,
    last,
    state,
    taken: null,
    choices: reading ? [reading] : choices.sort((a, b) => endOf(a) - endOf(b)),
    hasOpen: reading !== undefined,
  };
}

/** Whether a call changes nothing wherever its answer is possible. */
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

/** The answered calls that may be next: no other call was answered before they began. */
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

/** Adds the unanswered calls that may be next and change something, newest first. */
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

/** Indexes of the placed calls from `first` to `last`. */
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
