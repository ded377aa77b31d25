/** An atomic step that a process is about to take. */
export interface Step {
  /** The process. Steps of one process are never exchanged: they share its memory. */
  who: string;
  what: string;
  /** What the step reads and writes, in the present state. */
  touches(): { reads: readonly string[]; writes: readonly string[] };
}

/** Holds steps until their turn. */
export interface Schedule {
  /** Takes a step when its turn comes. */
  take<Result>(step: Step, act: () => Result): Promise<Result>;
}

/** Processes in their first state. Until they start, and after their end, no step is held. */
interface World {
  /** Resolves when each process that must come to an end has done so. */
  start(): Promise<unknown>;
  /** Fails when the last state is not as it must be. */
  check(): Promise<void>;
  close(): Promise<unknown>;
}

interface Parked extends Step {
  id: string;
  go(): void;
}

/** A state in which one of several steps comes next. */
interface Choice {
  /** The steps that may come next. */
  steps: { id: string; step: Step; touches: ReturnType<Step["touches"]> }[];
  /** Steps whose orders before and after the chosen step have all been tried or make no difference. */
  asleep: Set<string>;
  chosen: string;
  /** Where stops are counted: those before this step, and the step that would be none. */
  stopped: number;
  goesOn: string | undefined;
}

/** Turns of the event loop in which nothing happens, after which nothing will. */
const QUIET_TURNS = 4;
/** Milliseconds after which processes that wait for no step are stuck. */
const STUCK_MS = 5_000;
/** More steps than processes take that come to an end. */
const MOST_STEPS = 200;

/**
 * Runs processes in every order of their steps, each time from the beginning. Of orders that differ only in
 * steps that do not touch the same things, one is run (sleep sets: Godefroid, "Partial-Order Methods for the
 * Verification of Concurrent Systems", 1996).
 * @param most the number of orders after which it fails
 * @param stops how often a process that could go on is stopped for others, in all; `null` for any number
 * @returns the number of orders
 */
export async function exploreAll(
  prepare: (schedule: Schedule) => Promise<World>,
  { most, stops = null }: { most: number; stops?: number | null },
): Promise<number> {
  const choices: Choice[] = [];
  let orders = 0;
  do {
    if (await runOnce(prepare, choices, stops)) orders++;
    if (orders > most) throw new Error(`more than ${most} orders`);
  } while (moveOn(choices));
  return orders;
}

/** Chooses another step in the last state that has one. @returns whether there is one */
function moveOn(choices: Choice[]): boolean {
  for (let last = choices.at(-1); last; last = choices.at(-1)) {
    last.asleep.add(last.chosen);
    const next = last.steps.find(({ id }) => !last?.asleep.has(id));
    if (next) {
      last.chosen = next.id;
      return true;
    }
    choices.pop();
  }
  return false;
}

/** @returns whether it was an order of its own, to its end */
async function runOnce(
  prepare: (schedule: Schedule) => Promise<World>,
  choices: Choice[],
  stops: number | null,
): Promise<boolean> {
  const schedule = createSchedule();
  const world = await prepare(schedule);
  schedule.hold();
  let hasEnded = false;
  const ended = world.start().finally(() => {
    hasEnded = true;
  });
  ended.catch(() => {});
  const way: string[] = [];
  try {
    for (let depth = 0; ; depth++) {
      const steps = await schedule.parked(() => hasEnded);
      if (steps.length === 0) break;
      const before = choices[depth - 1];
      const choice =
        choices[depth] ??
        (stops === null ? newChoice(steps, before) : newStop(steps, before, stops));
      if (!choice) return false;
      choices[depth] = choice;
      const next = steps.find(({ id }) => id === choice.chosen);
      if (!next) throw new Error(`${choice.chosen} does not come again`);
      way.push(next.id);
      if (depth > MOST_STEPS) throw new Error("the processes come to no end");
      next.go();
    }
    schedule.free();
    await ended;
    await world.check();
    return true;
  } catch (error) {
    throw new Error(`in this order:\n${way.join("\n")}`, { cause: error });
  } finally {
    schedule.free();
    await ended.catch(() => {});
    await world.close();
  }
}

/** @returns `null` when all steps are asleep */
function newChoice(parked: readonly Parked[], before: Choice | undefined): Choice | null {
  const steps = parked.map((step) => ({ id: step.id, step, touches: step.touches() }));
  const chosen = before?.steps.find(({ id }) => id === before.chosen);
  const stillAsleep = before?.steps.filter(
    (other) => before.asleep.has(other.id) && chosen && !dependOnEachOther(other, chosen),
  );
  const asleep = new Set(stillAsleep?.map(({ id }) => id));
  const first = steps.find(({ id }) => !asleep.has(id));
  return first ? { steps, asleep, chosen: first.id, stopped: 0, goesOn: undefined } : null;
}

/** A choice that leaves out no order but those with more stops. */
function newStop(parked: readonly Parked[], before: Choice | undefined, stops: number): Choice {
  const known = parked.map((step) => ({ id: step.id, step, touches: step.touches() }));
  const former = before?.steps.find(({ id }) => id === before.chosen)?.step.who;
  const own = known.find(({ step }) => step.who === former);
  const wasStop = before?.goesOn !== undefined && before.goesOn !== before.chosen;
  const stopped = (before?.stopped ?? 0) + (wasStop ? 1 : 0);
  const others = known.filter((step) => step !== own);
  const steps = own && stopped === stops ? [own] : [...(own ? [own] : []), ...others];
  const chosen = steps[0]?.id ?? "";
  return { steps, asleep: new Set(), chosen, stopped, goesOn: own?.id };
}

type Known = Choice["steps"][number];

function dependOnEachOther(one: Known, other: Known): boolean {
  if (one.step.who === other.step.who) return true;
  const meets = (a: Known, b: Known) =>
    a.touches.writes.some(
      (thing) => b.touches.reads.includes(thing) || b.touches.writes.includes(thing),
    );
  return meets(one, other) || meets(other, one);
}

function createSchedule() {
  const waiting: Parked[] = [];
  const counts = new Map<string, number>();
  let isHeld = false;
  let events = 0;

  const quiet = async () => {
    for (let turns = 0, seen = events; turns < QUIET_TURNS; turns++) {
      await new Promise(setImmediate);
      if (events !== seen) [turns, seen] = [-1, events];
    }
  };

  return {
    async take<Result>(step: Step, act: () => Result): Promise<Result> {
      events++;
      if (!isHeld) return act();
      const name = `${step.who}: ${step.what}`;
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push({ ...step, id: `${name} ${count}`, go: resolve });
      await promise;
      events++;
      return act();
    },

    hold(): void {
      isHeld = true;
    },

    free(): void {
      isHeld = false;
      for (const { go } of waiting.splice(0)) go();
    },

    /** The steps that wait, once nothing else happens. None when all has ended. */
    async parked(hasEnded: () => boolean): Promise<Parked[]> {
      for (const started = performance.now(); ; ) {
        await quiet();
        if (waiting.length > 0 || hasEnded()) break;
        if (performance.now() - started > STUCK_MS) throw new Error("a process waits for ever");
      }
      return waiting.map((parked) => ({
        ...parked,
        go() {
          waiting.splice(waiting.indexOf(waiting.find(({ id }) => id === parked.id) ?? parked), 1);
          parked.go();
        },
      }));
    },
  };
}
