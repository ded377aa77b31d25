import { FLOOR } from "../../src/memories/ranking/chance.ts";
import type { SearchMode } from "../../src/memories/ranking/question.ts";
import { createProgress } from "../bench/progress.ts";
import type { TestServer } from "../support/server.ts";
import { createAccount } from "./account.ts";
import { floorFigures, scoresOf } from "./foreign.ts";
import { foreignStores } from "./foreign-stores.ts";
import { BUDGETS, FACTS_BUDGET, type Group, readGroups } from "./groups.ts";
import { measureLarge } from "./large.ts";
import { mean } from "./measures.ts";
import { readNear } from "./near-facts.ts";
import { readOdd } from "./odd-texts.ts";
import { readChanged, readFacts, readForeign, readNotes } from "./own-sets.ts";
import { type Answered, askAll, recallFigures, recallOf } from "./recall.ts";
import type { Figure } from "./table.ts";

/** @1 of the version that holds, and of those that held once. */
const CHANGED = { now: { least: 0.9, aim: 0.97 }, past: { least: 0.8 } };

const HALVES = { dev: "changed facts, tried on", held: "changed facts, held back" };

/** Figures of our own sets. */
export async function measureOwn(
  server: TestServer,
  modes: readonly SearchMode[],
): Promise<Figure[]> {
  const own = await ownGroups();
  return [
    ...(await ownFigures(server, modes)),
    ...floorFigures(await scoresOf(server, foreignStores(own, await readForeign())), FLOOR),
  ];
}

/** Figures of our own sets and of those in a folder. */
export async function measureAll(
  server: TestServer,
  folder: string,
  modes: readonly SearchMode[],
): Promise<Figure[]> {
  const groups = await readGroups(folder);
  const generic = await readForeign();
  const figures: Figure[] = [];
  const progress = createProgress("eval", groups.length + 4);
  let done = 0;
  for (const { name, files } of groups) {
    const answers = await recallOf(
      server,
      files.map(({ set }) => set),
      modes,
    );
    figures.push(...inModes(answers, modes, name));
    progress.report(++done);
  }
  figures.push(...(await ownFigures(server, modes)));
  progress.report(++done);
  const scores = await scoresOf(
    server,
    foreignStores([...groups, ...(await ownGroups())], generic),
  );
  progress.report(++done);
  const large: Figure[] = [];
  for (const hasSessions of [true, false]) {
    const measured = await measureLarge(server, groups, generic, { hasSessions });
    large.push(...measured.figures);
    scores.push(measured.scores);
    progress.report(++done);
  }
  progress.end();
  return [...figures, ...floorFigures(scores, FLOOR), ...large];
}

/** Our own sets that are asked what they don't know. */
export async function ownGroups(): Promise<Group[]> {
  return [
    { name: "own facts", about: "a household", files: [{ name: "facts", set: await readFacts() }] },
    {
      name: "terse notes",
      about: "a household",
      files: [{ name: "notes", set: await readNotes() }],
    },
  ];
}

/** Recall of our own sets, and the versions of what changed. */
async function ownFigures(server: TestServer, modes: readonly SearchMode[]): Promise<Figure[]> {
  const facts = await recallOf(server, [await readFacts()], modes);
  const notes = await recallOf(server, [await readNotes()], modes);
  const odd = await recallOf(server, [readOdd()], modes);
  const figures = [
    ...inModes(facts, modes, "own facts"),
    ...inModes(notes, modes, "terse notes"),
    ...inModes(odd, modes, "code, tables, scripts"),
  ];
  for (const half of ["dev", "held"] as const) {
    const set = await readChanged(half);
    const account = await createAccount(server, set.memories);
    figures.push(...changedFigures(await askAll(set, account, { mode: "hybrid" }), HALVES[half]));
  }
  const near = await recallOf(server, await readNear("held"), ["hybrid"]);
  return [...figures, ...changedFigures(near, "the same beside another person's", {})];
}

/** How often the version that is asked for is the first result. */
export function changedFigures(
  answers: readonly Answered[],
  group: string,
  budgets: Partial<typeof CHANGED> = CHANGED,
): Figure[] {
  return (["now", "past"] as const).map((category) => {
    const of = answers.filter((answer) => answer.category === category);
    const { questions, recall } = mean(of.flatMap(({ measures }) => measures ?? []));
    return {
      group,
      name: `${category === "now" ? "what holds" : "the past"} (${questions}) @1`,
      value: recall[0] ?? 0,
      ...budgets[category],
    };
  });
}

function inModes(answers: readonly Answered[], modes: readonly SearchMode[], group: string) {
  const budget = BUDGETS[group] ?? (group === "own facts" ? FACTS_BUDGET : undefined);
  return modes.flatMap((mode) =>
    recallFigures(answers, {
      ...{ group, mode },
      ...(budget && mode === "hybrid" && { budget }),
    }),
  );
}
