import type { Embedder } from "../../src/embedding/embedder.ts";
import { answersAmong } from "../../src/memories/ranking/chance.ts";
import { readFamilies } from "./families.ts";
import { type Half, readBoth } from "./own-sets.ts";
import type { EvaluationSet } from "./set.ts";
import type { Figure } from "./table.ts";
import { createAsker } from "./training/examples.ts";
import { searchSet } from "./versions.ts";

/** Questions, a fact that answers them, and others that look like it. */
interface LookAlikes {
  kind: "beside others like it" | "beside one of the same shape";
  questions: readonly string[];
  fact: string;
  others: readonly string[];
}

interface UnsaidCounts {
  kind: LookAlikes["kind"];
  questions: number;
  /** How often nothing was found where only look-alikes were saved. */
  silent: number;
  /** How often the fact was found where it was saved with them. */
  found: number;
}

/**
 * Asks for facts of which only look-alikes were saved, and asks again when they were saved as well.
 * @param every one fact of so many is asked for
 */
export async function measureUnsaid(
  half: Half,
  embedder: Embedder,
  every = 1,
): Promise<UnsaidCounts[]> {
  const counts = new Map<string, UnsaidCounts>();
  const all = await readLookAlikes(half);
  for (const { kind, questions, fact, others } of all.filter((_, at) => at % every === 0)) {
    const count = counts.get(kind) ?? { kind, questions: 0, silent: 0, found: 0 };
    count.questions += questions.length;
    const unsaid = await answersOf(questions, others, embedder);
    count.silent += unsaid.filter((answers) => answers.length === 0).length;
    const said = await answersOf(questions, [...others, fact], embedder);
    count.found += said.filter((answers) => answers.includes(fact)).length;
    counts.set(kind, count);
  }
  return [...counts.values()];
}

/** The counts as figures. */
export async function unsaidFigures(half: Half, embedder: Embedder): Promise<Figure[]> {
  return (await measureUnsaid(half, embedder, 2)).flatMap(({ kind, questions, silent, found }) => {
    const group = `a fact ${kind} (${questions})`;
    return [
      { group, name: "silent if unsaid", value: silent / questions },
      { group, name: "found if said", value: found / questions },
    ];
  });
}

async function readLookAlikes(half: Half): Promise<LookAlikes[]> {
  const families = (await readFamilies(half)).flatMap(
    ({ questions, same: [fact], others }): LookAlikes[] =>
      fact && others.length > 0 ? [{ kind: "beside others like it", questions, fact, others }] : [],
  );
  const pairs = (await readBoth(half)).flatMap(({ memories: [one, two], questions }) => {
    const kind = "beside one of the same shape";
    return [
      { kind, questions: [questions[0]], fact: one, others: [two] },
      { kind, questions: [questions[1]], fact: two, others: [one] },
    ] as const;
  });
  return [...families, ...pairs];
}

async function answersOf(
  questions: readonly string[],
  texts: readonly string[],
  embedder: Embedder,
): Promise<string[][]> {
  const memories = texts.map((content, day): EvaluationSet["memories"][number] => ({
    id: content,
    content,
    said_at: new Date(Date.UTC(2025, 1, 3 + day)).toISOString(),
  }));
  const asker = await createAsker({ memories, questions: [] }, embedder);
  const answers: string[][] = [];
  for (const question of questions) {
    const { ordered } = await searchSet(asker, question, embedder);
    answers.push(answersAmong(ordered).map(({ memory }) => memory.content));
  }
  asker.close();
  return answers;
}
