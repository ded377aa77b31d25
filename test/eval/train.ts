import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { readWeights } from "../../src/memories/ranking/rank.ts";
import { SIGNALS } from "../../src/memories/ranking/signals/signals.ts";
import { sharedEmbedder, testCacheDir } from "../support/embedder.ts";
import { cacheEmbeddings } from "./cached-embedder.ts";
import { readGroups } from "./groups.ts";
import { DEPTHS, type Measures } from "./measures.ts";
import { readFacts, readNotes } from "./own-sets.ts";
import { createAsker } from "./training/examples.ts";
import { calibrate, fit } from "./training/fit.ts";
import { crossValidate, type Examples, lessonsOf, validateByGroup } from "./training/validate.ts";

const USAGE = `bun test/eval/train.ts FOLDER [--dry]

Learns what each signal of the ranking counts, from the sets of a folder and our own, all of them at once,
and writes src/memories/ranking/weights.json. Prints what is found of files that were left out meanwhile.
  --dry  writes nothing
`;
const FILE = join(import.meta.dir, "../../src/memories/ranking/weights.json");
/** What the first ranking goes by. Signals that are read of the best alone depend on it. */
const FIRST = { start: 0, weights: { meaning: 5, coverage: 4, around: 3 } };
const ROUNDS = 3;
/** Questions of each other file that a file is asked, and what they count for each file. */
const FOREIGN = 3;
const FOREIGN_WEIGHT = 30;
/** Of the squares of weights. */
const PENALTY = 10;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { dry: { type: "boolean", default: false } },
});
const [folder] = positionals;
if (folder === undefined) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const cache = join(testCacheDir, "..", "ctxd-eval", "embedded.sqlite");
const embedder = cacheEmbeddings(sharedEmbedder(), cache);
const sets = [
  ...(await readGroups(folder)).flatMap(({ name: group, files }) =>
    files.map(({ name, set }) => ({ group, name, set })),
  ),
  { group: "facts", name: "facts", set: await readFacts() },
  { group: "notes", name: "notes", set: await readNotes() },
];
const askers = await Promise.all(
  sets.map(async ({ set, ...names }) => ({ ...names, asker: await createAsker(set, embedder) })),
);

let learned: { start: number; weights: Record<string, number> } = FIRST;
let files: Examples[] = [];
for (let round = 0; round < ROUNDS; round++) {
  const current = readWeights(learned);
  files = await Promise.all(
    askers.map(async ({ asker, ...names }) => ({
      ...names,
      examples: await asker.examples(current),
    })),
  );
  const lessons = lessonsOf(files);
  const weights = fit(lessons, SIGNALS.length, PENALTY);
  const foreign = await Promise.all(
    askers.map(async ({ group, asker }) => {
      const others = askers.filter((other) => other.group !== group);
      const questions = others.flatMap((other) => other.asker.questions.slice(0, FOREIGN));
      return { examples: await asker.foreignExamples(questions, current), weight: FOREIGN_WEIGHT };
    }),
  );
  const [factor, start] = calibrate([...lessons, ...foreign], weights);
  learned = {
    start: short(start),
    weights: Object.fromEntries(
      SIGNALS.map(({ name }, at) => [name, short(factor * (weights[at] ?? 0))]),
    ),
  };
}
print("left out: a fifth of the files", crossValidate(files, PENALTY));
print("left out: all files of the group", validateByGroup(files, PENALTY));
process.stdout.write(`\n${JSON.stringify(learned, null, 2)}\n`);
if (!values.dry) {
  const data = Object.fromEntries(
    sets.map(({ name, set }) => [
      basename(name),
      new Bun.CryptoHasher("sha256").update(JSON.stringify(set)).digest("hex").slice(0, 16),
    ]),
  );
  await Bun.write(FILE, `${JSON.stringify({ ...learned, data }, null, 2)}\n`);
}
for (const { asker } of askers) asker.close();
await embedder.close();

function print(title: string, measured: ReadonlyMap<string, Measures>) {
  process.stdout.write(
    `\n${title.padEnd(36)}${DEPTHS.map((depth) => `@${depth}`.padEnd(7)).join("")}\n`,
  );
  for (const [group, { questions, recall }] of measured) {
    const figures = recall.map((share) => share.toFixed(3).padEnd(7)).join("");
    process.stdout.write(`${`${group} (${questions})`.padEnd(36)}${figures}\n`);
  }
}

function short(weight: number): number {
  return Math.round(weight * 1_000) / 1_000;
}
