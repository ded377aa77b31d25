import { expect, test } from "bun:test";
import { type HintKind, hintOf } from "../../src/memories/ranking/hint.ts";
import { meaningScore } from "../../src/memories/ranking/relevance.ts";
import { cosineOf } from "../../src/memories/ranking/version-order.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { halfOf, type Pair, readPairs } from "./pairs.ts";

const embedder = sharedEmbedder();

const vectorOf = async (text: string) =>
  (await embedder.embedContent(text)).vectors[0] ?? new Float32Array(0);

interface Judged extends Pair {
  hint: HintKind | null;
}

async function judge(pair: Pair): Promise<Judged> {
  const { earlier, later } = pair;
  const cosine = cosineOf(await vectorOf(earlier), await vectorOf(later));
  return { ...pair, hint: hintOf(earlier, later, meaningScore(cosine, embedder.model.cosines)) };
}

const shareOf = (all: readonly Judged[], holds: (pair: Judged) => boolean) =>
  all.filter(holds).length / all.length;
const isWanted = ({ kind }: Pair) => kind === "same" || kind === "changed";

test("a hint tells of what is the same or has changed, and of little else", async () => {
  const pairs = await readPairs();
  expect(pairs.length).toBeGreaterThanOrEqual(200);
  const judged: Judged[] = [];
  for (const pair of pairs) judged.push(await judge(pair));
  // The weights are fitted to the other half.
  for (const half of [judged, halfOf(judged, "held") as Judged[]]) {
    const told = half.filter(({ hint }) => hint !== null);
    expect(shareOf(told, isWanted)).toBeGreaterThanOrEqual(0.92);
    expect(shareOf(half.filter(isWanted), ({ hint }) => hint !== null)).toBeGreaterThanOrEqual(0.9);
    const right = shareOf(told.filter(isWanted), ({ kind, hint }) =>
      kind === "changed" ? hint === "changed" : hint === "near",
    );
    expect(right).toBeGreaterThanOrEqual(0.83);
  }
}, 60_000);
