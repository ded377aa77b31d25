import { rememberingEmbedder } from "./cached-embedder.ts";
import { createLikeness, hintShares, type Judged, judgePair, proposalShares } from "./hints.ts";
import {
  isKept,
  type KnownPair,
  plantedPairs,
  readOwnPairs,
  readWrittenPairs,
} from "./known-pairs.ts";

/**
 * `bun test/eval/relations.ts` prints how good hints, merged results of searches and proposals to tidy are on pairs that the
 * model of relations did not learn from: a tenth of the groups that was kept, the held-back halves, and the planted facts.
 * Of what is neither the same nor a change, "related" is near it. A share of no pairs is "–". The first run takes a minute.
 */

/** Pairs that are judged at the same time. */
const AT_ONCE = 64;

/** A judged pair with the set that it is of. */
type Shown = Judged & Pick<KnownPair, "set">;

const embedder = rememberingEmbedder();
const likeness = createLikeness(embedder);
const learned = [...(await readWrittenPairs("dev")), ...(await readOwnPairs("dev"))];
const PARTS: Record<string, KnownPair[]> = {
  kept: learned.filter(isKept),
  held: [...(await readWrittenPairs("held")), ...(await readOwnPairs("held"))],
  planted: plantedPairs(),
};
const judged = new Map<string, Shown[]>();
for (const [part, pairs] of Object.entries(PARTS)) {
  const all = await judgeAll(pairs);
  const sets = [...new Set(pairs.map(({ set }) => set))];
  if (sets.length > 1) judged.set(`${part}, all`, all);
  for (const set of sets) {
    const name = sets.length > 1 ? `${part}, ${set}` : part;
    judged.set(
      name,
      all.filter((one) => one.set === set),
    );
  }
}
printTable("pairs", countsOf, 0);
printTable("proposals to tidy", proposalShares);
printTable("hints and merged results", (pairs) => {
  const { changed, ...shares } = hintShares(pairs);
  return shares;
});
await embedder.close();
process.exit(0);

async function judgeAll(pairs: readonly KnownPair[]): Promise<Shown[]> {
  const all: Shown[] = [];
  for (let at = 0; at < pairs.length; at += AT_ONCE) {
    const some = pairs.slice(at, at + AT_ONCE).map(async (pair) => {
      const alike = await likeness(pair.earlier, pair.later);
      return { ...(await judgePair(pair, alike, embedder.relate)), set: pair.set };
    });
    all.push(...(await Promise.all(some)));
  }
  return all;
}

function countsOf(pairs: readonly Shown[]) {
  const count = (...kinds: string[]) => pairs.filter(({ kind }) => kinds.includes(kind)).length;
  return { same: count("same"), changed: count("changed"), others: count("related", "unrelated") };
}

/** Prints a row of figures for each set. */
function printTable(
  title: string,
  measure: (pairs: readonly Shown[]) => Record<string, number>,
  digits = 3,
): void {
  const rows = [...judged].map(([name, pairs]) => [name, measure(pairs)] as const);
  const titles = Object.keys(rows[0]?.[1] ?? {});
  const width = Math.max(title.length, ...rows.map(([name]) => name.length));
  const lines = rows.map(([name, figures]) => {
    const cells = Object.entries(figures).map(([of, figure]) =>
      (Number.isNaN(figure) ? "–" : figure.toFixed(digits)).padStart(of.length),
    );
    return [name.padEnd(width), ...cells].join("  ");
  });
  process.stdout.write(`${[[title.padEnd(width), ...titles].join("  "), ...lines].join("\n")}\n\n`);
}
