import type { Embedder } from "../../src/embedding/embedder.ts";
import { cosineOf } from "../../src/memories/ranking/version-order.ts";
import { COMPARED, compareVersions, SIGNS } from "../../src/memories/ranking/versions.ts";
import type { TestServer } from "../support/server.ts";
import { createAccount, type Found } from "./account.ts";
import { readGroups } from "./groups.ts";
import { type Example, fitLogistic } from "./logistic.ts";
import { readNear } from "./near-facts.ts";
import { readChanged, readFacts, readNotes } from "./own-sets.ts";
import { withEvaluationServer } from "./server.ts";
import type { EvaluationSet } from "./set.ts";

/**
 * `bun test/eval/fit-versions.ts FOLDER` fits the signs of `src/memories/ranking/versions.ts`: which
 * of the memories that a question finds are versions of one fact. Examples are pairs of the facts
 * that changed (`changed-dev.txt`) and pairs of all other sets, which have none or few.
 */

/** How much a pair counts, by what it would break to take it for versions of one fact. */
const WEIGHTS = { versions: 3, near: 2, beside: 10, own: 10, evidence: 1, other: 0.2 };
/** Places of which at least one of a pair has one. */
const FIRST = 3;

type Weigh = (older: string, newer: string, evidence: readonly string[]) => [boolean, number];

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("which folder has the sets?");
await withEvaluationServer(async (server, embedder) => {
  const examplesOf = createExamples(server, embedder);
  const examples = await examplesOf(await readChanged("dev"), ofChanged);
  for (const set of await readNear("dev")) examples.push(...(await examplesOf(set, ofNear)));
  for (const set of [await readFacts(), await readNotes()]) {
    examples.push(...(await examplesOf(withoutChanges(set), ofOthers(WEIGHTS.own))));
  }
  for (const { files } of await readGroups(folder)) {
    for (const { set } of files) {
      examples.push(...(await examplesOf(set, ofOthers(1))));
    }
  }
  const { base, weights } = fitLogistic(examples);
  process.stdout.write(`${examples.length} pairs\nBASE ${base.toFixed(3)}\n`);
  for (const [at, [sign]] of SIGNS.entries()) {
    process.stdout.write(`${sign} ${weights[at]?.toFixed(3)}\n`);
  }
});

/** Returns what makes an example of every pair that the questions of a set find. */
function createExamples(server: TestServer, { embedContent }: Embedder) {
  const vectorOf = async (content: string) =>
    (await embedContent(content)).vectors[0] ?? new Float32Array(0);
  const none = new Float32Array(0);
  return async (set: EvaluationSet, weigh: Weigh): Promise<Example[]> => {
    const account = await createAccount(server, set.memories);
    const examples: Example[] = [];
    for (const { question, evidence } of set.questions) {
      const found = (await account.ask(question, { limit: COMPARED, versions: false })).map(toSaid);
      const vectors = await Promise.all(found.map(({ memory }) => vectorOf(memory.content)));
      const compare = compareVersions(
        question,
        found.map(({ memory }) => memory),
      );
      for (const [place, one] of found.entries()) {
        for (const [otherPlace, other] of found.entries()) {
          if (otherPlace <= place || place >= FIRST) continue;
          const [own = none, others = none] = [vectors[place], vectors[otherPlace]];
          const signs = compare({ ...one, place }, { ...other, place: otherPlace }, () =>
            cosineOf(own, others),
          );
          if (!signs) continue;
          const isInTime = one.memory.createdAt < other.memory.createdAt;
          const [older, newer] = isInTime ? [one, other] : [other, one];
          const [isTrue, weight] = weigh(older.name, newer.name, evidence);
          examples.push({ features: SIGNS.map(([sign]) => signs[sign]), isTrue, weight });
        }
      }
    }
    return examples;
  };
}

function toSaid({ id, score, content, created_at, session_id }: Found) {
  const createdAt = Date.parse(created_at);
  return { name: id, score, memory: { content, createdAt, sessionId: session_id } };
}

/** Ids of versions are `FACT.-N`, of memories beside them `FACT.*N`. */
function ofChanged(older: string, newer: string): [boolean, number] {
  const isOneFact = older.split(".")[0] === newer.split(".")[0];
  const areVersions = isOneFact && !older.includes("*") && !newer.includes("*");
  if (areVersions) return [true, WEIGHTS.versions];
  return [false, isOneFact ? WEIGHTS.beside : 1];
}

/** The same in small stores, where most of what is near is no version. */
function ofNear(older: string, newer: string): [boolean, number] {
  return [older.split(".")[0] === newer.split(".")[0], WEIGHTS.near];
}

function ofOthers(more: number): Weigh {
  return (older, newer, evidence) => {
    const isHarmful = evidence.includes(older) && !evidence.includes(newer);
    return [false, more * (isHarmful ? WEIGHTS.evidence : WEIGHTS.other)];
  };
}

function withoutChanges({ memories, questions }: EvaluationSet): EvaluationSet {
  return { memories, questions: questions.filter(({ category }) => category !== "changed") };
}
