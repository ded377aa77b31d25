import { wholeAccount } from "../../src/keys/reach.ts";
import type { TidyGroup, TidyKind, TidyReport } from "../../src/memories/rules/tidy/report.ts";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import { createSentences } from "../bench/sentences.ts";
import { createStandIn } from "../bench/stand-in.ts";
import { startServer } from "../support/server.ts";
import { rememberingEmbedder } from "./cached-embedder.ts";
import { readBoth } from "./own-sets.ts";
import { readPairs } from "./pairs.ts";
import { type PlantedText, plantedFacts } from "./tidy-facts.ts";

/**
 * `bun test/eval/tidy.ts [MEMORIES]` measures tidying on so many memories (100,000): how many of the planted restatements
 * and changed facts are proposed, how many proposals are wrong, and how long the report takes. The vectors of planted
 * texts are those of the model, the others' those of a stand-in.
 */
const memories = Number(Bun.argv[2] ?? 100_000);
const DAY = 86_400_000;
const REPORTS = 20;

const model = rememberingEmbedder();
const standIn = createStandIn();
const own = new Set<string>();
const embedder = {
  ...standIn,
  model: model.model,
  embedContent: (text: string) => (own.has(text) ? model : standIn).embedContent(text),
  relate: model.relate,
};
let state = 1;
const random = () => {
  // xorshift32 (Marsaglia, "Xorshift RNGs", 2003).
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return (state >>> 0) / 2 ** 32;
};
const planted = plantedFacts(random);
for (const { content } of planted) own.add(content);

await using server = await startServer({
  embedder,
  due: { ...UPKEEP_LIMITS, idle: 500, restFactor: 0 },
});
const client = await server.account();
const reach = wholeAccount(client.accountId);

const textOf = new Map<string, PlantedText>();
for (const turn of [0, 1]) {
  for (const text of planted.filter((each) => each.turn === turn)) {
    const { memory } = await server.memories.save(reach, {
      content: text.content,
      project: "atlas",
    });
    textOf.set(memory.id, text);
  }
  server.clock.advance(30 * DAY);
}
/** Pairs that are both true. They are harder than what people save. */
const hard: string[][] = [];
for (const half of ["dev", "held"] as const) {
  for (const each of await readBoth(half)) hard.push(each.memories);
  for (const { kind, earlier, later } of await readPairs(half)) {
    if (kind === "related" || kind === "unrelated") hard.push([earlier, later]);
  }
}
const hardIds = new Set<string>();
for (const [at, pair] of hard.entries()) {
  for (const content of pair) {
    own.add(content);
    // Each pair is in a project of its own: other texts of the files may say the same.
    const { memory } = await server.memories.save(reach, { content, project: `hard ${at}` });
    hardIds.add(memory.id);
  }
}
const sentences = createSentences(1);
for (let left = memories - textOf.size - hardIds.size; left > 0; left -= 250) {
  const batch = Array.from({ length: Math.min(250, left) }, () => ({
    ...sentences.memory(),
    project: `filler ${left % 8}`,
  }));
  await server.memories.saveAll(reach, batch);
}
const began = performance.now();
const report = async (query = "") =>
  (await client.send("GET", `/memories/tidy${query}`)).body as TidyReport;
for (;;) {
  const { compared } = await report();
  console.error(`compared ${compared}, ${Math.round((performance.now() - began) / 1_000)} s`);
  if (compared === 1) break;
  await Bun.sleep(5_000);
}

async function groupsOf(kind: TidyKind): Promise<TidyGroup[]> {
  const groups: TidyGroup[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: TidyReport = await report(
      `?kind=${kind}&limit=100${cursor && `&cursor=${cursor}`}`,
    );
    groups.push(...page.groups);
    cursor = page.next_cursor;
  }
  return groups;
}

const result: Record<string, unknown> = {};
for (const kind of ["restatements", "contradictions"] as const) {
  const groups = await groupsOf(kind);
  const isHard = ({ memories }: TidyGroup) => memories.some(({ id }) => hardIds.has(id));
  const told = groups.filter((group) => !isHard(group));
  const isRight = ({ memories }: TidyGroup) => {
    const texts = memories.map(({ id }) => textOf.get(id));
    const same = new Set(texts.map((text) => text?.fact)).size === 1 && texts[0] !== undefined;
    const values = new Set(texts.map((text) => text?.value)).size;
    return same && (kind === "restatements" ? values === 1 : values > 1);
  };
  const right = told.filter(isRight);
  const facts = Map.groupBy(planted, ({ fact }) => fact);
  const wanted = [...facts.values()].filter(
    (texts) =>
      texts.length > 1 && (texts[0]?.value === texts[1]?.value) === (kind === "restatements"),
  );
  result[kind] = {
    planted: wanted.length,
    found: right.length / wanted.length,
    proposed: told.length,
    wrong: 1 - right.length / told.length,
    "look-alikes proposed": groups.filter(isHard).length / hard.length,
    examples: told
      .filter((group) => !isRight(group))
      .slice(0, 8)
      .map(({ memories }) => memories.map(({ content }) => content)),
  };
}
const times: number[] = [];
for (let turn = 0; turn < REPORTS; turn++) {
  const started = performance.now();
  await report();
  times.push(performance.now() - started);
}
times.sort((a, b) => a - b);
result.report = { median: times[REPORTS / 2], worst: times.at(-1) };
server.memories.save(reach, { content: "one more", project: "atlas" });
const started = performance.now();
await report();
result["report after a change"] = performance.now() - started;
console.log(JSON.stringify({ memories, ...result }, null, 1));
process.exit(0);
