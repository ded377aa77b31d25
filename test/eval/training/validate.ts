import { SIGNALS } from "../../../src/memories/ranking/signals/signals.ts";
import { DEPTHS, type Measures, mean } from "../measures.ts";
import type { Example } from "./examples.ts";
import { fit, type Lesson } from "./fit.ts";

/** Examples of one file. */
export interface Examples {
  group: string;
  name: string;
  examples: readonly Example[];
}

/** What all examples of a group count: those of small or uniform groups less. */
const WEIGHTS: Readonly<Record<string, number>> = { tradzh: 45, facts: 75, notes: 40 };
const USUAL_WEIGHT = 150;
/** Parts of a group that are left out in turn. */
const FOLDS = 5;

/** The examples of several files, each group counting as much as it should. */
export function lessonsOf(files: readonly Examples[]): Lesson[] {
  return [...Map.groupBy(files, ({ group }) => group)].map(([group, own]) => ({
    examples: own.flatMap(({ examples }) => examples),
    weight: WEIGHTS[group] ?? USUAL_WEIGHT,
  }));
}

/**
 * Recall of each group with weights that were learned without the files that are asked; of a group of one
 * file, without a fifth of its questions.
 */
export function crossValidate(files: readonly Examples[], penalty: number): Map<string, Measures> {
  const measured = new Map<string, Measures[]>();
  const isAlone = ({ group }: Examples) => files.filter((one) => one.group === group).length === 1;
  const placeOf = (file: Examples) =>
    files.filter(({ group }) => group === file.group).indexOf(file);
  for (let fold = 0; fold < FOLDS; fold++) {
    const part = (isLeftOut: boolean) =>
      files.flatMap((file) => {
        const isHere = (place: number) => (place % FOLDS === fold) === isLeftOut;
        if (!isAlone(file)) return isHere(placeOf(file)) ? [file] : [];
        return [{ ...file, examples: file.examples.filter((_, at) => isHere(at)) }];
      });
    const weights = fit(lessonsOf(part(false)), SIGNALS.length, penalty);
    for (const { group, examples } of part(true)) {
      const own = measured.get(group) ?? [];
      for (const example of examples) own.push(measureExample(example, weights));
      measured.set(group, own);
    }
  }
  return new Map([...measured].map(([group, own]) => [group, mean(own)]));
}

/** Recall of each group with weights that were learned without it. */
export function validateByGroup(
  files: readonly Examples[],
  penalty: number,
): Map<string, Measures> {
  const groups = [...new Set(files.map(({ group }) => group))];
  return new Map(
    groups.map((left) => {
      const others = files.filter(({ group }) => group !== left);
      const weights = fit(lessonsOf(others), SIGNALS.length, penalty);
      const own = files.filter(({ group }) => group === left);
      const measures = own.flatMap(({ examples }) =>
        examples.map((example) => measureExample(example, weights)),
      );
      return [left, mean(measures)];
    }),
  );
}

function measureExample({ signals, answers, wanted }: Example, weights: Float64Array): Measures {
  const columns = weights.length;
  const found = Array.from(answers, (answer, at) => {
    let sum = 0;
    for (let column = 0; column < columns; column++) {
      sum += (signals[at * columns + column] ?? 0) * (weights[column] ?? 0);
    }
    return { answer, sum };
  }).sort((a, b) => b.sum - a.sum);
  const first = found.findIndex(({ answer }) => answer === 1);
  return {
    questions: 1,
    recall: DEPTHS.map(
      (depth) => found.slice(0, depth).reduce((sum, { answer }) => sum + answer, 0) / wanted,
    ),
    reciprocalRank: first < 0 ? 0 : 1 / (first + 1),
  };
}
