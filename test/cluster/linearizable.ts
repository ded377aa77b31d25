import { apply, type Event, type State } from "./history.ts";

/** States that are tried before a history is given up. */
const MOST = 2_000_000;

/**
 * Whether some order of all calls explains every answer, in which no call is before one that was
 * answered before it began (Wing and Gong, "Testing and verifying concurrent objects", 1993, with
 * Lowe's memory of what was tried).
 * @returns null if there is one, or else how far it goes and what could not follow
 */
export function explain(events: readonly Event[]): string | null {
  const history = events.toSorted((a, b) => a.began - b.began);
  const search = { history, isDone: history.map(() => false), tried: new Set<string>(), steps: 0 };
  const furthest: Furthest = { done: -1, state: new Map(), next: [] };
  return follow(search, 0, new Map(), furthest) ? null : told(furthest, search.steps);
}

interface Search {
  history: readonly Event[];
  isDone: boolean[];
  tried: Set<string>;
  steps: number;
}

interface Furthest {
  done: number;
  state: State;
  next: readonly Event[];
}

/** @param first number of the first event that has no place yet */
function follow(search: Search, first: number, state: State, furthest: Furthest): boolean {
  const { history, isDone, tried } = search;
  let from = first;
  while (isDone[from]) from++;
  const next = nextOf(search, from);
  if (next.every((index) => history[index]?.ended === Number.POSITIVE_INFINITY)) return true;

  const key = `${from} ${later(isDone, from)} ${[...state].map(String).sort().join(" ")}`;
  if (tried.has(key)) return false;
  tried.add(key);
  if (++search.steps > MOST) throw new Error("too many orders to try");
  const done = isDone.reduce((sum, each) => sum + Number(each), 0);
  if (done > furthest.done) {
    Object.assign(furthest, { done, state, next: next.map((index) => history[index]) });
  }

  const possible = next.flatMap((index) => {
    const event = history[index];
    const after = event && apply(state, event.call);
    return event && after ? [{ index, after, event }] : [];
  });
  const go = ({ index, after }: { index: number; after: State }) => {
    isDone[index] = true;
    const isExplained = follow(search, from, after, furthest);
    isDone[index] = false;
    return isExplained;
  };
  // What changes nothing can as well come at once.
  const reading = possible.find(
    ({ after, event }) => after === state && event.ended !== Number.POSITIVE_INFINITY,
  );
  if (reading) return go(reading);
  // What was never answered comes in only where nothing else explains the rest.
  return possible
    .filter(({ after }) => after !== state)
    .toSorted((a, b) => a.event.ended - b.event.ended)
    .some(go);
}

/** Numbers of the events that may be next: none of the others was answered before they began. */
function nextOf({ history, isDone }: Search, from: number): number[] {
  const next: number[] = [];
  let earliest = Number.POSITIVE_INFINITY;
  for (let index = from; index < history.length; index++) {
    const event = history[index];
    if (!event || isDone[index]) continue;
    if (event.began > earliest) break;
    earliest = Math.min(earliest, event.ended);
    next.push(index);
  }
  return next;
}

/** Numbers of the events after `from` that have their place. */
function later(isDone: readonly boolean[], from: number): string {
  return isDone.flatMap((each, index) => (each && index > from ? [index] : [])).join(",");
}

function told({ done, state, next }: Furthest, steps: number): string {
  const lines = next.map(
    ({ call, began, ended, by }) =>
      `  ${began.toFixed(1)}–${ended.toFixed(1)} ${by}: ${JSON.stringify(call, replacer)}`,
  );
  const held = JSON.stringify(state, replacer);
  return `no order explains the answers: after ${done} calls (${steps} states tried) there was ${held}, and none of these fits:\n${lines.join("\n")}`;
}

function replacer(_: string, value: unknown): unknown {
  return value instanceof Map ? Object.fromEntries(value) : value;
}
