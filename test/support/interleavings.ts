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

interface Known {
  id: string;
  step: Step;
  touches: ReturnType<Step["touches"]>;
  /** The length of the longest chain of steps that depend on each other and end with this one. */
  level: number;
  /**
   * A hash of the steps up to this one, each with its level, in any order: the same for orders that differ only
   * in steps that do not touch the same things (Foata's normal form).
   */
  form: bigint;
}

/** A state in which one of several steps comes next. */
interface Choice {
  /** The steps that may come next. */
  steps: Known[];
  /** Steps whose orders before and after the chosen step have all been tried or make no difference. */
  asleep: Set<string>;
  chosen: string;
  /** Where stops are counted: those before this step, and the step that would be none. */
  stopped: number;
  goesOn: string | undefined;
}

/** The least number of stops with which each state was reached, by its form and the process that took the last step. */
type Reached = Map<string, number>;

/** Turns of the event loop in which nothing happens, after which nothing will. */
const QUIET_TURNS = 4;
/** Milliseconds after which processes that wait for no step are stuck. */
const STUCK_MS = 5_000;
/** More steps than processes take that come to an end. */
const MOST_STEPS = 200;

/**
 * Runs processes in every order of their steps, each time from the beginning. Of orders that differ only in
 * steps that do not touch the same things, one is run (sleep sets: Godefroid, "Partial-Order Methods for the
 * Verification of Concurrent Systems", 1996). With a number of stops, what follows a state is run once for those
 * that such orders lead to.
 * @param most the number of orders after which it fails
 * @param stops how often a process that could go on is stopped for others, in all; `null` for any number
 * @returns the number of orders
 */
export async function exploreAll(
  prepare: (schedule: Schedule) => Promise<World>,
  { most, stops = null }: { most: number; stops?: number | null },
): Promise<number> {
  const choices: Choice[] = [];
  const reached: Reached = new Map();
  let orders = 0;
  do {
    if (await runOnce(prepare, choices, { stops, reached })) orders++;
    if (orders > most) throw new Error(`more than ${most} orders`);
  } while (moveOn(choices, stops === null ? null : reached));
  return orders;
}

/** Chooses another step in the last state that has one. @returns whether there is one */
function moveOn(choices: Choice[], reached: Reached | null): boolean {
  for (let last = choices.at(-1); last; last = choices.at(-1)) {
    last.asleep.add(last.chosen);
    choices.pop();
    const choice = reached
      ? chooseNew(last, choices, reached)
      : choose(last, ({ id }) => !last.asleep.has(id));
    if (choice) {
      choices.push(choice);
      return true;
    }
  }
  return false;
}

/** @returns `null` when there is no such step */
function choose(choice: Choice, isOpen: (step: Known) => boolean): Choice | null {
  const chosen = choice.steps.find(isOpen)?.id;
  return chosen === undefined ? null : Object.assign(choice, { chosen });
}

/** @returns whether it was an order of its own, to its end */
async function runOnce(
  prepare: (schedule: Schedule) => Promise<World>,
  choices: Choice[],
  { stops, reached }: { stops: number | null; reached: Reached },
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
        (stops === null
          ? newChoice(steps, before)
          : chooseNew(newStop(steps, before, stops), choices, reached));
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
  const steps = parked.map(known);
  const chosen = before?.steps.find(({ id }) => id === before.chosen);
  const stillAsleep = before?.steps.filter(
    (other) => before.asleep.has(other.id) && chosen && !dependOnEachOther(other, chosen),
  );
  const asleep = new Set(stillAsleep?.map(({ id }) => id));
  const choice = { steps, asleep, chosen: "", stopped: 0, goesOn: undefined };
  return choose(choice, ({ id }) => !asleep.has(id));
}

/** A choice that leaves out no order but those with more stops. */
function newStop(parked: readonly Parked[], before: Choice | undefined, stops: number): Choice {
  const all = parked.map(known);
  const former = before && chosenOf(before).step.who;
  const own = all.find(({ step }) => step.who === former);
  const stopped = before ? stopsAfter(before, before.chosen) : 0;
  const others = all.filter((step) => step !== own);
  const steps = own && stopped === stops ? [own] : [...(own ? [own] : []), ...others];
  return { steps, asleep: new Set(), chosen: "", stopped, goesOn: own?.id };
}

function stopsAfter({ stopped, goesOn }: Choice, id: string): number {
  return stopped + (goesOn !== undefined && goesOn !== id ? 1 : 0);
}

/**
 * Chooses a step to a state that was not reached with as few stops. A process that stands still there costs what
 * follows one stop more at most.
 */
function chooseNew(choice: Choice, before: readonly Choice[], reached: Reached): Choice | null {
  const order = before.map(chosenOf);
  const leastTo = (key: string) => reached.get(key) ?? Number.POSITIVE_INFINITY;
  return choose(choice, (next) => {
    if (choice.asleep.has(next.id)) return false;
    const former = order.filter((each) => dependOnEachOther(each, next));
    next.level = 1 + Math.max(0, ...former.map(({ level }) => level));
    const label = `${next.level} ${next.id} ${JSON.stringify(next.touches)}`;
    next.form = (order.at(-1)?.form ?? 0n) + Bun.hash.wyhash(label);
    const stopped = stopsAfter(choice, next.id);
    const [any, same] = [`${next.form}`, `${next.form} ${next.step.who}`];
    if (leastTo(same) <= stopped || leastTo(any) < stopped) return false;
    for (const key of [any, same]) reached.set(key, Math.min(leastTo(key), stopped));
    return true;
  });
}

function known(step: Parked): Known {
  return { id: step.id, step, touches: step.touches(), level: 0, form: 0n };
}

function chosenOf({ steps, chosen }: Choice): Known {
  const step = steps.find(({ id }) => id === chosen);
  if (!step) throw new Error(`${chosen} is no choice`);
  return step;
}

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
