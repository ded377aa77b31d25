import { createRandom } from "../support/random.ts";
import { readFamilies } from "./families.ts";
import { type Half, readBoth, readChangedFacts } from "./own-sets.ts";
import { readSheetAnswers } from "./sheets.ts";
import { isKept as isKeptStore, readStores, textOf } from "./stores.ts";

/** A question, and a memory that tells what it asks for or does not. Those of one group are learned from together or not at all. */
export interface KnownAnswer {
  set: "families" | "sheets" | "changed" | "corrections" | "both" | "stores";
  group: string;
  question: string;
  memory: string;
  isAnswer: boolean;
}

/** Memories of other groups that each question is put beside. */
const OTHERS = 3;

/** What is known of questions and memories of all sets. */
export async function readKnownAnswers(half: Half): Promise<KnownAnswer[]> {
  const { pick } = createRandom(1);
  const answers: KnownAnswer[] = [];
  const add = (
    own: Pick<KnownAnswer, "set" | "group">,
    questions: readonly string[],
    { right, wrong }: Record<"right" | "wrong", readonly string[]>,
  ) => {
    for (const question of questions) {
      for (const memory of right) answers.push({ ...own, question, memory, isAnswer: true });
      for (const memory of wrong) answers.push({ ...own, question, memory, isAnswer: false });
    }
  };

  const families = await readFamilies(half);
  for (const { name, questions, same, changes, others } of families) {
    for (const question of questions) {
      const far = Array.from({ length: OTHERS }, () => pick(families)).flatMap((other) =>
        other && other.name !== name ? [pick(other.same) ?? ""] : [],
      );
      // Whoever asked the same has not told it.
      const asked = questions
        .filter((other) => other !== question)
        .map((other) => `User: ${other}`);
      const wrong = [...others, ...far, ...asked];
      add({ set: "families", group: name }, [question], { right: [...same, ...changes], wrong });
    }
  }
  for (const { sheet, ...answer } of await readSheetAnswers(half)) {
    answers.push({ ...answer, set: "sheets", group: sheet });
  }
  for (const file of ["changed", "corrections"] as const) {
    for (const { versions, beside, questions } of await readChangedFacts(half, file)) {
      const asked = questions.map(({ question }) => question);
      const own = { set: file, group: versions[0] ?? "" };
      add(own, asked, { right: versions, wrong: beside });
    }
  }
  for (const { shape, memories, questions } of await readBoth(half)) {
    const [first, second] = memories;
    const own = { set: "both", group: shape } as const;
    add(own, [questions[0]], { right: [first], wrong: [second] });
    add(own, [questions[1]], { right: [second], wrong: [first] });
  }
  for (const [place, { title, memories, questions }] of (await readStores()).entries()) {
    if (isKeptStore(place) !== (half === "held")) continue;
    for (const { question, evidence } of questions) {
      const isRight = ({ id }: { id: string }) => evidence.includes(id);
      const right = memories.filter(isRight).map(textOf);
      const others = memories.filter((memory) => !isRight(memory)).map(textOf);
      const wrong = Array.from({ length: OTHERS }, () => pick(others) ?? "");
      add({ set: "stores", group: title }, [question], { right, wrong });
    }
  }
  return answers;
}
