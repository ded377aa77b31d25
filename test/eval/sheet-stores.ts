import type { Embedder } from "../../src/embedding/embedder.ts";
import { answersAmong } from "../../src/memories/ranking/chance.ts";
import { createRandom } from "../support/random.ts";
import type { Half } from "./own-sets.ts";
import type { EvaluationSet } from "./set.ts";
import { cellsOf, createFact, readSheets, type Sheet } from "./sheets.ts";
import type { Figure } from "./table.ts";
import { createAsker } from "./training/examples.ts";
import { areVersions, type VersionStore } from "./version-stores.ts";
import { searchSet } from "./versions.ts";

const DAY = 86_400_000;
const START = Date.parse("2025-02-03T08:00:00Z");
/** How many facts of a store were said once, have changed, have ended, and were never said. */
const SHARES = { known: 0.45, changed: 0.25, ended: 0.1, unsaid: 0.2 };
const ASKED = 2;

const KINDS = ["known", "changed", "ended", "unsaid"] as const;
type Kind = (typeof KINDS)[number];

/** What an answer shows first. `marked`: what held once, and that there is something newer. */
type First = "right" | "stale" | "marked" | "other" | "nothing";

interface Answer {
  kind: Kind;
  first: First;
  /** Whether a memory is marked as outdated by one that is no version of it. */
  isFalselyMarked: boolean;
}

/**
 * How good searches are where nearly everything is said of something else in the same words: each sheet is a store, of whose facts
 * some have changed and some were never said.
 */
export async function sheetFigures(half: Half, embedder: Embedder): Promise<Figure[]> {
  const answers: Answer[] = [];
  for (const sheet of await readSheets(half)) {
    answers.push(...(await askStore(storeOf(sheet), embedder)));
  }
  return KINDS.flatMap((kind) => {
    const own = answers.filter((answer) => answer.kind === kind);
    const group = `facts of one shape, ${kind} (${own.length})`;
    const share = (wanted: First) =>
      own.filter(({ first }) => first === wanted).length / own.length;
    const falselyMarked = own.filter((answer) => answer.isFalselyMarked).length / own.length;
    const marks = { group, name: "with a false mark", value: falselyMarked };
    if (kind === "unsaid") return [{ group, name: "silent", value: share("nothing") }, marks];
    return [
      { group, name: "right first", value: share("right") },
      ...(kind === "known" ? [] : [{ group, name: "outdated first", value: share("stale") }]),
      { group, name: "nothing", value: share("nothing") },
      marks,
    ];
  });
}

async function askStore({ set }: VersionStore, embedder: Embedder): Promise<Answer[]> {
  const asker = await createAsker(set, embedder);
  const answers: Answer[] = [];
  for (const { question, evidence, category } of set.questions) {
    const { ordered, nameOf } = await searchSet(asker, question, embedder);
    const [best] = answersAmong(ordered);
    const [wanted = ""] = evidence;
    const name = nameOf(best?.memory.id);
    const isOld = name !== wanted && areVersions(name, wanted);
    const old = best?.newer ? "marked" : "stale";
    const shown = name === wanted ? "right" : isOld ? old : "other";
    const isFalse = ({ memory, newer }: (typeof ordered)[number]) =>
      newer !== undefined && !areVersions(nameOf(memory.id), nameOf(newer));
    answers.push({
      kind: category as Kind,
      first: best ? shown : "nothing",
      isFalselyMarked: ordered.some(isFalse),
    });
  }
  asker.close();
  return answers;
}

/** What a store has of a sheet's facts, and what is asked. The categories are `KINDS`. No text is in it twice. */
function storeOf({ name, subjects, attributes }: Sheet): VersionStore {
  const random = createRandom(1);
  const set: EvaluationSet = { memories: [], questions: [] };
  const said = new Set<string>();
  const save = (id: string, content: string, day: number) => {
    if (said.has(content)) return [];
    said.add(content);
    const time = START + day * DAY + said.size * 60_000;
    set.memories.push({ id, content, said_at: new Date(time).toISOString() });
    return [id];
  };
  for (const [at, cell] of cellsOf({ subjects, attributes }).entries()) {
    const { say, values } = createFact(cell, random);
    const { same, changes, ends, questions } = cell.attribute;
    const [value, next] = values;
    const category = kindOf(random.next());
    const day = random.below(300);
    const evidence =
      category === "unsaid" ? [] : save(`${at}.-1`, say(random.pick(same), value), day);
    const later = {
      changed: say(random.pick(random.pick([same, changes]) ?? []), next, value),
      ended: say(random.pick(ends), value, value),
    };
    if (category === "changed" || category === "ended") {
      evidence.unshift(...save(`${at}.-2`, later[category], day + 20));
    }
    for (const shape of random.shuffled(questions).slice(0, ASKED)) {
      set.questions.push({ question: say(shape), evidence: evidence.slice(0, 1), category });
    }
  }
  return { kind: name, set };
}

function kindOf(chance: number): Kind {
  let left = chance;
  for (const kind of KINDS) {
    if (left < SHARES[kind]) return kind;
    left -= SHARES[kind];
  }
  return "unsaid";
}
