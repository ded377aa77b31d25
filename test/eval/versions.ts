import type { Embedder } from "../../src/embedding/embedder.ts";
import { relateUpTo } from "../../src/embedding/relations/relate-up-to.ts";
import { doubtAnswers, readAnswers } from "../../src/memories/ranking/answers.ts";
import { calibrate } from "../../src/memories/ranking/chance.ts";
import { WEIGHTS } from "../../src/memories/ranking/rank.ts";
import { orderVersions } from "../../src/memories/ranking/versions/order.ts";
import { RELATED, versionData } from "../../src/memories/rules/search.ts";
import type { Half } from "./own-sets.ts";
import type { Figure } from "./table.ts";
import { type Asker, createAsker } from "./training/examples.ts";
import {
  areVersions,
  beforeStores,
  bothStores,
  changedStores,
  type VersionStore,
} from "./version-stores.ts";

/** What the questions of stores of one kind have found. */
export interface VersionCounts {
  kind: string;
  questions: number;
  /** How often the right memory came first, and how often it would by the ranking alone. */
  right: number;
  rightWithout: number;
  /** How often a memory of the fact or the pair was marked as outdated, and was not. */
  falselyMarked: number;
}

/**
 * Asks the questions of all stores with versions and of those with pairs that are both true.
 * @param every one store of so many is asked, and where a kind has few stores, one question of so many
 */
export async function measureVersions(
  half: Half,
  embedder: Embedder,
  every = 1,
): Promise<VersionCounts[]> {
  const counts = new Map<string, VersionCounts>();
  const isTaken = (_: unknown, at: number) => at % every === 0;
  const stores = [bothStores(half), changedStores(half), beforeStores(half)];
  const all = (await Promise.all(stores)).flat();
  const kinds = Map.groupBy(all, ({ kind }) => kind);
  const taken = [...kinds.values()].flatMap((stores) =>
    stores.length > every
      ? stores.filter(isTaken)
      : stores.map(({ kind, set }) => ({
          kind,
          set: { ...set, questions: set.questions.filter(isTaken) },
        })),
  );
  for (const store of taken) {
    for (const { category, ...answer } of await askStore(store, embedder)) {
      const kind = `${store.kind}${category === "past" ? ", the past" : ""}`;
      const none = { kind, questions: 0, right: 0, rightWithout: 0, falselyMarked: 0 };
      const sum = counts.get(kind) ?? none;
      sum.questions++;
      sum.right += Number(answer.isRight);
      sum.rightWithout += Number(answer.isRightWithout);
      sum.falselyMarked += Number(answer.isFalselyMarked);
      counts.set(kind, sum);
    }
  }
  return [...counts.values()];
}

/** The counts as figures. */
export async function versionFigures(half: Half, embedder: Embedder): Promise<Figure[]> {
  return (await measureVersions(half, embedder)).flatMap(
    ({ kind, questions, right, rightWithout, falselyMarked }) => [
      { group: `${kind} (${questions})`, name: "right first", value: right / questions },
      {
        group: `${kind} (${questions})`,
        name: "by the ranking alone",
        value: rightWithout / questions,
      },
      { group: `${kind} (${questions})`, name: "falsely marked", value: falselyMarked / questions },
    ],
  );
}

/** What a search finds, by the ranking alone and in the end, and how the set names its memories. */
export async function searchSet(
  { table, ask }: Pick<Asker, "table" | "ask">,
  text: string,
  embedder: Pick<Embedder, "relate">,
) {
  const { ids, ...results } = await ask(text, WEIGHTS);
  const relate = relateUpTo(RELATED, embedder.relate);
  const ranked = calibrate(results);
  const read = await readAnswers(results.question, ranked, relate, true);
  const data = await versionData(table, { ...results, ranked: read });
  const versions = await orderVersions(results.question, read, data, relate);
  const ordered = await doubtAnswers(results, versions, relate);
  return { ranked, ordered, nameOf: (id = "") => ids.get(id) ?? "" };
}

async function askStore({ set }: VersionStore, embedder: Embedder) {
  const asker = await createAsker(set, embedder);
  const answers = [];
  for (const { question, evidence, category } of set.questions) {
    const { ranked, ordered, nameOf } = await searchSet(asker, question, embedder);
    // Other memories of a store may be versions, which nobody has said.
    const isFalse = ({ memory, newer }: (typeof ordered)[number]) =>
      newer !== undefined &&
      /\.[-*]/.test(nameOf(memory.id)) &&
      !areVersions(nameOf(memory.id), nameOf(newer));
    answers.push({
      category,
      isRight: evidence.includes(nameOf(ordered[0]?.memory.id)),
      isRightWithout: evidence.includes(nameOf(ranked[0]?.memory.id)),
      isFalselyMarked: ordered.some(isFalse),
    });
  }
  asker.close();
  return answers;
}
