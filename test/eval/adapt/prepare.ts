import { parseArgs } from "node:util";
import { contentTokens, tokensOf } from "../../../src/embedding/tokens.ts";
import { openModelGraph } from "../../support/model-graph.ts";
import { friendsLessons, type Lesson, meetingLessons, ownLessons } from "./sources.ts";

const USAGE = `bun test/eval/adapt/prepare.ts --out FILE [--friends FOLDER] [--meetings FOLDER]

Writes what the embedding model learns from, as tokens: the stores of test/eval/stores, and what lies in the folders.
  --friends   \`dat\` of FriendsQA's repository
  --meetings  \`data/ALL\` of QMSum's repository
`;
const { values } = parseArgs({
  options: { out: { type: "string" }, friends: { type: "string" }, meetings: { type: "string" } },
});
if (!values.out) {
  process.stderr.write(USAGE);
  process.exit(2);
}
const { tokenizer } = await openModelGraph();
const own = await ownLessons();
const learnt = [
  ...own.learnt,
  ...(values.friends ? await friendsLessons(values.friends) : []),
  ...(values.meetings ? await meetingLessons(values.meetings) : []),
];
const numbers = new Map<string, number>();
const texts: { ids: number[]; content: number[] }[] = [];
const prepared = { learnt: await prepare(learnt), kept: await prepare(own.kept), texts };
const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(prepared)).digest("hex");
await Bun.write(values.out, JSON.stringify({ ...prepared, hash }));
for (const [source, of] of Map.groupBy(learnt, ({ source }) => source)) {
  console.log(source, of.length, "groups", of.flatMap(({ questions }) => questions).length);
}
console.log("kept", own.kept.length, own.kept.flatMap(({ questions }) => questions).length, hash);

async function prepare(lessons: readonly Lesson[]) {
  const prepared = [];
  for (const { source, memories, questions } of lessons) {
    const places = await Promise.all(memories.map(numberOf));
    const asked = await Promise.all(
      questions.map(async ({ text, evidence }) => ({ text: await numberOf(text), evidence })),
    );
    prepared.push({ source, memories: places, questions: asked });
  }
  return prepared;
}

/** The place of a text's tokens in `texts`; `content` are the places of those that late interaction compares. */
async function numberOf(text: string): Promise<number> {
  const known = numbers.get(text);
  if (known !== undefined) return known;
  const number = texts.push({ ids: [], content: [] }) - 1;
  numbers.set(text, number);
  const encoding = await tokenizer.encode(text, null);
  const content = contentTokens(tokensOf(text, encoding)).map(({ place }) => place);
  texts[number] = { ids: encoding.getIds(), content };
  return number;
}
