import { beforeAll, expect, test } from "bun:test";
import { type HintKind, hintOf, isRestatement } from "../../src/memories/ranking/hint.ts";
import { meaningScore } from "../../src/memories/ranking/relevance.ts";
import { cosineOf } from "../../src/memories/ranking/version-order.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { type Pair, type PairKind, readPairs } from "./pairs.ts";

const embedder = sharedEmbedder();

const vectorOf = async (text: string) =>
  (await embedder.embedContent(text)).vectors[0] ?? new Float32Array(0);

interface Judged extends Pair {
  hint: HintKind | null;
  isMerged: boolean;
}

async function judge(pair: Pair): Promise<Judged> {
  const { earlier, later } = pair;
  const cosine = cosineOf(await vectorOf(earlier), await vectorOf(later));
  const alike = meaningScore(cosine, embedder.model.cosines);
  const hint = hintOf(earlier, later, alike);
  return {
    ...pair,
    hint,
    isMerged: isRestatement({ content: earlier }, { content: later }, alike),
  };
}

const shareOf = (all: readonly Judged[], holds: (pair: Judged) => boolean) =>
  all.filter(holds).length / all.length;

// The weights are fitted to the other half.
const judged: Judged[] = [];
const ofKind = (...kinds: PairKind[]) => judged.filter(({ kind }) => kinds.includes(kind));
beforeAll(async () => {
  for (const pair of await readPairs("held")) judged.push(await judge(pair));
}, 60_000);

// Measured 0.88 of 78, of which 1 counts as the same; 0.72 of what is told as changed has changed.
test("a hint tells that a value has changed, and hardly ever that it is the same", () => {
  const changed = ofKind("changed");
  expect(changed.length).toBeGreaterThanOrEqual(75);
  expect(shareOf(changed, ({ hint }) => hint === "changed")).toBeGreaterThanOrEqual(0.85);
  expect(shareOf(changed, ({ hint }) => hint === "near")).toBeLessThanOrEqual(0.03);
  const told = judged.filter(({ hint }) => hint === "changed");
  expect(shareOf(told, ({ kind }) => kind === "changed")).toBeGreaterThanOrEqual(0.68);
});

test("a hint tells little of what is about something else", () => {
  expect(shareOf(ofKind("unrelated"), ({ hint }) => hint !== null)).toBeLessThanOrEqual(0.08);
});

test("restatements are one, and hardly ever what differs", () => {
  expect(shareOf(ofKind("same"), ({ isMerged }) => isMerged)).toBeGreaterThanOrEqual(0.5);
  const others = ofKind("changed", "related", "unrelated");
  expect(shareOf(others, ({ isMerged }) => isMerged)).toBeLessThanOrEqual(0.01);
});
