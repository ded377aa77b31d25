import { parseArgs } from "node:util";
import { openModelGraph } from "../../support/model-graph.ts";
import { isKept, type KnownPair, readKnownFamilies, readOwnPairs } from "../known-pairs.ts";
import type { Half } from "../own-sets.ts";

const USAGE = `bun test/eval/relations/prepare.ts --out FILE

Writes what the model of relations learns from, and what it is judged by, as tokens.
`;
const { values } = parseArgs({ options: { out: { type: "string" } } });
if (!values.out) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const { tokenizer } = await openModelGraph();
const pairsOf = async (half: Half) => [
  ...(await readKnownFamilies(half)),
  ...(await readOwnPairs(half)),
];
const pairs = await pairsOf("dev");
const numbers = new Map<string, number>();
const texts: number[][] = [];
const prepared = {
  learnt: await prepare(pairs.filter((pair) => !isKept(pair))),
  kept: await prepare(pairs.filter(isKept)),
  held: await prepare(await pairsOf("held")),
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

async function prepare(pairs: readonly KnownPair[]) {
  const prepared = [];
  for (const { kind, set, earlier, later } of pairs) {
    const told = kind === "same" || kind === "changed" ? kind : "other";
    prepared.push({
      kind: told,
      set,
      earlier: await numberOf(earlier),
      later: await numberOf(later),
    });
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
