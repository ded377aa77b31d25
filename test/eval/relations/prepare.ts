import { parseArgs } from "node:util";
import { openModelGraph } from "../../support/model-graph.ts";
import { readKnownAnswers } from "../known-answers.ts";
import { isKept, type KnownPair, readOwnPairs, readWrittenPairs } from "../known-pairs.ts";
import type { Half } from "../own-sets.ts";

const USAGE = `bun test/eval/relations/prepare.ts --out FILE

Writes what the model of relations learns from, and what it is judged by, as tokens.
`;
const { values } = parseArgs({ options: { out: { type: "string" } } });
if (!values.out) {
  process.stderr.write(USAGE);
  process.exit(2);
}
/** Longer texts take too long to learn from. */
const MOST_TOKENS = 96;
const { tokenizer } = await openModelGraph();
const numbers = new Map<string, number>();
const texts: number[][] = [];

const known = await readHalf("dev");
const prepared = {
  learnt: await prepare(known.filter((each) => !isKept(each))),
  kept: await prepare(known.filter(isKept)),
  held: await prepare(await readHalf("held")),
  texts,
};
const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(prepared)).digest("hex");
await Bun.write(values.out, JSON.stringify(prepared));
const { learnt, kept, held } = prepared;
for (const [name, of] of Object.entries({ learnt, kept, held })) {
  const counts = [...Map.groupBy(of, ({ set, kind }) => `${set} ${kind}`)];
  console.log(name, of.length, counts.map(([what, { length }]) => `${what} ${length}`).join(", "));
}
console.log(hash);

/** Two texts, and what the model is to tell of them. */
interface Known {
  kind: "same" | "changed" | "other" | "answer" | "none";
  set: string;
  group: string;
  first: string;
  second: string;
}

async function readHalf(half: Half): Promise<Known[]> {
  const relation = ({ kind, set, group, earlier, later }: KnownPair): Known => ({
    kind: kind === "same" || kind === "changed" ? kind : "other",
    ...{ set, group, first: earlier, second: later },
  });
  return [
    ...(await readWrittenPairs(half)).map(relation),
    ...(await readOwnPairs(half)).map(relation),
    ...(await readKnownAnswers(half)).map(
      ({ isAnswer, set, group, question, memory }): Known => ({
        kind: isAnswer ? "answer" : "none",
        ...{ set, group, first: question, second: memory },
      }),
    ),
  ];
}

async function prepare(all: readonly Known[]) {
  const prepared = [];
  for (const { kind, set, first, second } of all) {
    const [one, other] = [await numberOf(first), await numberOf(second)];
    if ([one, other].some((number) => (texts[number]?.length ?? 0) > MOST_TOKENS)) continue;
    prepared.push({ kind, set, first: one, second: other });
  }
  return prepared;
}

/** The place of a text's tokens in `texts`. */
async function numberOf(text: string): Promise<number> {
  const known = numbers.get(text);
  if (known !== undefined) return known;
  const number = texts.push((await tokenizer.encode(text, null)).getIds()) - 1;
  numbers.set(text, number);
  return number;
}
