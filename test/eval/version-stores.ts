import { readFamilies } from "./families.ts";
import { readNear } from "./near-facts.ts";
import {
  type BothTrue,
  type ChangedFact,
  type Half,
  readBlocks,
  readBoth,
  readChanged,
  readChangedFacts,
  readFacts,
  readNotes,
} from "./own-sets.ts";
import { readPairFile } from "./pairs.ts";
import type { EvaluationSet } from "./set.ts";

const DAY = 86_400_000;
const START = Date.parse("2025-02-03T08:00:00Z");
/** Stores over which pairs are spread, when they lie among other memories. */
const STORES = 12;

/**
 * A store in which versions of facts are looked for. Memories `FACT.-N` are versions of one fact; all others, such as
 * those beside them (`FACT.*N`), are versions of nothing.
 */
export interface VersionStore {
  kind: string;
  set: EvaluationSet;
}

/** Whether two memories of such a store are versions of one fact, by their ids. */
export function areVersions(one: string, other: string): boolean {
  const isVersion = (id: string) => id.includes(".-");
  return isVersion(one) && isVersion(other) && one.split(".", 1)[0] === other.split(".", 1)[0];
}

/** Pairs that are both true: alone in either order, and among other memories. */
export async function bothStores(half: Half): Promise<VersionStore[]> {
  const pairs = await readBoth(half);
  const alone = pairs.flatMap((pair, at) =>
    [false, true].map((isTurned) => ({
      kind: "both true, alone",
      set: withPairs([{ pair, at, isTurned }], []),
    })),
  );
  const others = await otherMemories();
  const among = Array.from({ length: STORES }, (_, store) => {
    const own = pairs.flatMap((pair, at) =>
      at % STORES === store ? [{ pair, at, isTurned: at % 2 === 0 }] : [],
    );
    return { kind: "both true, among others", set: withPairs(own, others) };
  });
  return [...alone, ...among];
}

/** Facts that changed: each alone, all mixed, and beside the same facts of other people. */
export async function changedStores(half: Half): Promise<VersionStore[]> {
  const stores: VersionStore[] = [];
  const others = await otherMemories();
  for (const file of ["changed", "corrections"] as const) {
    const facts = await readChangedFacts(half, file);
    for (const fact of facts) stores.push({ kind: `${file}, alone`, set: changedAlone(fact) });
    const mixed = await readChanged(half, file);
    stores.push({ kind: `${file}, all mixed`, set: mixed });
    stores.push({
      kind: `${file}, among others`,
      set: { ...mixed, memories: [...mixed.memories, ...others] },
    });
  }
  for (const set of await readNear(half)) stores.push({ kind: "beside another person's", set });
  return stores;
}

/**
 * Stores with one question that says "before": for what the memory that names the rest has replaced, or for what that memory
 * itself tells. Those of the second kind are versions of nothing.
 */
export async function beforeStores(half: Half): Promise<VersionStore[]> {
  return (await readBlocks(`before-${half}.txt`)).map((lines): VersionStore => {
    const isPast = lines[0]?.sign === "<";
    const set: EvaluationSet = { memories: [], questions: [] };
    for (const [at, { sign, text }] of lines.entries()) {
      const id = `0.${isPast ? "-" : "*"}${at}`;
      const said_at = new Date(START + at * 3 * DAY).toISOString();
      if (at > 0) set.memories.push({ id, content: text, said_at });
      const asked = { question: lines[0]?.text ?? "", evidence: [id], category: "before" };
      if (sign === "+") set.questions.push(asked);
    }
    return { kind: isPast ? "before what is named" : "named, said before", set };
  });
}

/** The held families: each before it changes, and after it, beside its look-alikes; what holds in all of them in one store. */
export async function familyStores(): Promise<VersionStore[]> {
  const stores: VersionStore[] = [];
  const all: EvaluationSet = { memories: [], questions: [] };
  const families = (await readFamilies("held")).filter(({ questions }) => questions.length > 0);
  for (const [at, { questions: texts, same, changes, others: beside }] of families.entries()) {
    const asked = (versions: string[]) =>
      texts.map((question) => ({ question, version: versions.length }));
    for (const versions of [same.slice(0, 1), [...same.slice(-1), ...changes]]) {
      const isChanged = versions.length > 1;
      const set = changedAlone({ versions, questions: asked(versions), beside });
      stores.push({ kind: isChanged ? "families, changed" : "both true, families", set });
      if (!isChanged) continue;
      const nameOf = (id: string) => id.replace("0.", `${at}.`);
      all.memories.push(...set.memories.map((each) => ({ ...each, id: nameOf(each.id) })));
      for (const { evidence, ...question } of set.questions) {
        all.questions.push({ ...question, evidence: evidence.map(nameOf) });
      }
    }
  }
  return [...stores, { kind: "families, all mixed", set: all }];
}

/** About 500 memories of many kinds. */
async function otherMemories(): Promise<EvaluationSet["memories"]> {
  const sets = [await readFacts(), await readNotes()];
  const pairs = (await readPairFile("pairs.txt")).map(({ earlier }, at) => ({
    id: `pair ${at}`,
    content: earlier,
    said_at: new Date(START + at * 0.7 * DAY).toISOString(),
  }));
  return [...sets.flatMap(({ memories }) => memories), ...pairs];
}

/** The questions' categories are `both`; the evidence is the memory that the question is about. */
function withPairs(
  pairs: readonly { pair: BothTrue; at: number; isTurned: boolean }[],
  others: EvaluationSet["memories"],
): EvaluationSet {
  const set: EvaluationSet = { memories: [...others], questions: [] };
  for (const { pair, at, isTurned } of pairs) {
    for (const [place, content] of pair.memories.entries()) {
      const day = 10 + at + (isTurned ? -1 : 1) * place * 40;
      const said_at = new Date(START + day * DAY + at * 60_000).toISOString();
      set.memories.push({ id: `${at}.*${place + 1}`, content, said_at });
    }
    for (const [place, question] of pair.questions.entries()) {
      set.questions.push({ question, evidence: [`${at}.*${place + 1}`], category: "both" });
    }
  }
  return set;
}

function changedAlone({ versions, questions, beside }: ChangedFact): EvaluationSet {
  const set: EvaluationSet = { memories: [], questions: [] };
  const add = (id: string, content: string, day: number) =>
    set.memories.push({ id, content, said_at: new Date(START + day * DAY).toISOString() });
  for (const [at, text] of versions.entries()) add(`0.-${at + 1}`, text, 10 + 40 * at);
  for (const [at, text] of beside.entries()) add(`0.*${at + 1}`, text, 25 + 50 * at);
  for (const { question, version } of questions) {
    const category = version === versions.length ? "now" : "past";
    set.questions.push({ question, evidence: [`0.-${version}`], category });
  }
  return set;
}
