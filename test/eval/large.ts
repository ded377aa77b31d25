import type { TestServer } from "../support/server.ts";
import { createAccount, type EvaluationAccount, type SetMemory } from "./account.ts";
import { type Scores, scoresIn } from "./foreign.ts";
import {
  answerable,
  asKind,
  type ForeignStore,
  foreignTo,
  isLikeOneOf,
  some,
} from "./foreign-stores.ts";
import type { Group } from "./groups.ts";
import { mean, measure } from "./measures.ts";
import type { ForeignQuestion } from "./own-sets.ts";
import { askAll, recallFigures } from "./recall.ts";
import type { EvaluationSet } from "./set.ts";
import type { Figure } from "./table.ts";

/** Memories that a filter leaves. */
const LEFT = 20;
/** Every so many-th question is asked with a filter, and to tell evidence from what is foreign. */
const STEP = 4;

/** All sets in one account, but for the last file of each group that has several. */
export function largeStore(
  groups: readonly Group[],
  generic: readonly ForeignQuestion[],
  { hasSessions }: { hasSessions: boolean },
): ForeignStore {
  const { kind, memoriesOf, questionsOf } = inOne(groups, hasSessions);
  const memories = memoriesOf(false);
  const foreign = foreignTo(memories, [
    ...generic,
    ...some(questionsOf(true))
      .filter(({ question }) => !isLikeOneOf(question, questionsOf(false)))
      .map(asKind("same source")),
  ]);
  const asked = answerable(questionsOf(false)).filter((_, at) => at % STEP === 0);
  return { kind, file: kind, memories, answerable: asked, foreign };
}

/**
 * All sets in one account, some 10,000 memories. The last file of each group that has several comes
 * only after the foreign questions, among which are its own.
 */
export async function measureLarge(
  server: TestServer,
  groups: readonly Group[],
  generic: readonly ForeignQuestion[],
  { hasSessions }: { hasSessions: boolean },
): Promise<{ figures: Figure[]; scores: Scores }> {
  const { kind, files, memoriesOf } = inOne(groups, hasSessions);
  const store = largeStore(groups, generic, { hasSessions });
  const account = await createAccount(server, store.memories);
  const scores = await scoresIn(account, store);

  await account.add(memoriesOf(true));
  const figures: Figure[] = [];
  for (const group of groups) {
    const questions = files
      .filter((file) => file.group === group.name)
      .flatMap(({ set }) => set.questions);
    const answers = await askAll({ questions }, account, { mode: "hybrid" });
    figures.push(...recallFigures(answers, { group: `${group.name}, ${kind}` }));
  }
  const filtered = files.flatMap(({ set }) => set.questions).filter((_, at) => at % STEP === 0);
  const tags = new Map(
    files.flatMap(({ set }) => set.memories.map(({ id, tags = [] }) => [id, tags])),
  );
  figures.push(...(await filteredFigures(account, filtered, tags, `${LEFT} left of ${kind}`)));
  return { figures, scores };
}

/** The sets of all groups, as they are in one account. */
function inOne(groups: readonly Group[], hasSessions: boolean) {
  const files = groups.flatMap((group) =>
    group.files.map(({ name, set }, at) => ({
      group: group.name,
      isLater: group.files.length > 1 && at === group.files.length - 1,
      set: inOneAccount(set, name, hasSessions),
    })),
  );
  const of = (isLater: boolean) => files.filter((file) => file.isLater === isLater);
  return {
    kind: hasSessions ? "all in one account" : "the same without sessions",
    files,
    memoriesOf: (isLater: boolean) => of(isLater).flatMap(({ set }) => set.memories),
    questionsOf: (isLater: boolean) => of(isLater).flatMap(({ set }) => set.questions),
  };
}

/** Ids of a set that are no other set's, and tags that each stand for a few memories in a row. */
function inOneAccount(set: EvaluationSet, name: string, hasSessions: boolean): EvaluationSet {
  return {
    memories: set.memories.map(
      ({ session_id, ...memory }, at): SetMemory => ({
        ...memory,
        id: `${name} ${memory.id}`,
        tags: [tagOf(name, Math.floor(at / LEFT))],
        ...(hasSessions && session_id !== undefined && { session_id: `${name} ${session_id}` }),
      }),
    ),
    questions: set.questions.map((question) => ({
      ...question,
      evidence: question.evidence.map((id) => `${name} ${id}`),
    })),
  };
}

/** A tag that no question can name. */
function tagOf(name: string, number: number): string {
  return `tag${Bun.hash(`${name} ${number}`).toString(36)}`;
}

async function filteredFigures(
  account: EvaluationAccount,
  questions: EvaluationSet["questions"],
  tags: ReadonlyMap<string, string[]>,
  group: string,
): Promise<Figure[]> {
  const measures = [];
  for (const { question, evidence } of questions) {
    const [first = ""] = evidence;
    const tag = tags.get(first) ?? [];
    const wanted = evidence.filter((id) => tags.get(id)?.[0] === tag[0]);
    if (wanted.length === 0) continue;
    const found = await account.ask(question, { filter: { tags: tag } });
    measures.push(
      measure(
        found.map(({ id }) => id),
        wanted,
      ),
    );
  }
  const { questions: count, recall } = mean(measures);
  return [1, 5, 10].map((depth, at) => ({
    group: `${group} (${count})`,
    name: `hybrid @${depth}`,
    value: recall[at] ?? 0,
  }));
}
