import { expect, test } from "bun:test";
import type { Relate } from "../../src/embedding/relations/relater.ts";
import { type Question, readQuestion } from "../../src/memories/ranking/question.ts";
import { SIGNALS } from "../../src/memories/ranking/signals/signals.ts";
import { orderVersions } from "../../src/memories/ranking/versions/order.ts";
import { areOpposite } from "../../src/memories/ranking/versions/signs.ts";
import { contentsOf } from "../support/client.ts";
import { sharedEmbedder, startRelations } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";

const asked = (text: string): Question => ({
  ...readQuestion(text, Date.now()),
  ...{ mode: "hybrid", model: { cosines: { unrelated: 0.5, same: 1 } }, terms: [] },
  ...{ understood: 1, memories: 10, decay: null },
});
/** Vectors of texts about one subject, and about two. */
const NEAR = new Float32Array([1, 0]);
const OTHER = new Float32Array([0.5, Math.sqrt(0.75)]);

/** Results in the given order, dated by their days. */
function found(...said: [content: string, day: number][]) {
  return said.map(([content, day], place) => ({
    memory: {
      id: `mem_${day}`,
      content,
      sessionId: null as string | null,
      createdAt: day * 86_400_000,
    },
    score: 0.8 - 0.1 * place,
    chance: 0.8 - 0.1 * place,
    // Equally good by every signal.
    sum: 1,
    signals: SIGNALS.map(() => 0.7),
  }));
}
startRelations();
const { relate } = sharedEmbedder();
const ACME: [string, number] = ["Sam works at Acme.", 1];
const GLOBEX: [string, number] = ["Sam works at Globex now.", 60];
const INITECH: [string, number] = ["Sam now works at Initech.", 120];

type Ranked = ReturnType<typeof found>;

const put = (question: string, ranked: Ranked, vectorOf: (content: string) => Float32Array) =>
  orderVersions(
    asked(question),
    ranked,
    {
      vectors: new Map(ranked.map(({ memory }) => [memory.id, vectorOf(memory.content)])),
      matches: new Map(),
    },
    relate,
  );
const order = async (question: string, ranked: Ranked, vectorOf = (_: string) => NEAR) =>
  (await put(question, ranked, vectorOf)).map(({ memory, newer }) => [memory.content, newer]);

test("the newest version of a fact comes first, and older ones have its id", async () => {
  expect(await order("where does Sam work", found(ACME, GLOBEX, INITECH))).toEqual([
    [INITECH[0], undefined],
    [ACME[0], "mem_120"],
    [GLOBEX[0], "mem_120"],
  ]);
});

test("a superseding memory is the newer version, even with another text", async () => {
  const ranked = found(["Sam works at Acme.", 9], ["self-employed", 5], ["Globex, since May", 1]);
  const [acme, own, globex] = ranked;
  const chain = ranked.map(({ memory, ...rest }, place) => ({
    ...rest,
    memory: { ...memory, supersedes: [null, globex, acme][place]?.memory.id ?? null },
  }));
  const none = { vectors: new Map(), matches: new Map() };
  const put = async (question: string) =>
    (await orderVersions(asked(question), chain, none, relate)).map(({ memory, newer }) => [
      memory.content,
      newer,
    ]);
  const newest = own?.memory.id;
  expect(await put("where does Sam work")).toEqual([
    ["self-employed", undefined],
    ["Sam works at Acme.", newest],
    ["Globex, since May", newest],
  ]);
  expect((await put("where did Sam work at first?"))[0]).toEqual(["Sam works at Acme.", newest]);
});

test("results stay in the order of their scores", async () => {
  const scores = (await put("where does Sam work", found(ACME, GLOBEX, INITECH), () => NEAR)).map(
    ({ score }) => score,
  );
  expect(scores).toEqual(scores.toSorted((a, b) => b - a));
});

test.each([
  ["where did Sam work before Initech?", GLOBEX],
  ["where did Sam work before Globex?", ACME],
  ["what was Sam's previous work?", GLOBEX],
  ["where did Sam work at first?", ACME],
])("a question about the past gets the version of that time: %s", async (question, [content]) => {
  expect((await order(question, found(INITECH, GLOBEX, ACME)))[0]?.[0]).toBe(content);
});

test("the newer value of one attribute comes first, unmarked, where the model hardly sees a change", async () => {
  const error = "The log level of search is error.";
  const info = "As of May, the log level of search is info.";
  const ranked = found([error, 1], [info, 60]);
  const vectors = new Map(ranked.map(({ memory }) => [memory.id, NEAR]));
  const doubtful: Relate = async () => ({ same: 0, changed: 0.2, answers: 0.5 });
  const data = { vectors, matches: new Map<string, number[]>() };
  const ordered = await orderVersions(asked("log level of search?"), ranked, data, doubtful);
  expect(ordered.map(({ memory, newer }) => [memory.content, newer])).toEqual([
    [info, undefined],
    [error, undefined],
  ]);
});

test.each([
  "which company do people use to ask for Sam at work?",
  "what does Sam do before work?",
  "where should I look for Sam at work first?",
])("a question about the present gets the current version: %s", async (question) => {
  expect((await order(question, found(INITECH, GLOBEX, ACME)))[0]?.[0]).toBe(INITECH[0]);
});

test.each([
  ["another person", ["Mia works at Globex now.", 60]],
  ["another subject", ["Sam has lunch at noon.", 60]],
  ["a long text", [`Sam works at Globex now. ${"And so on. ".repeat(50)}`, 60]],
] as const)("%s is no newer version", async (_, [content, day]) => {
  const ranked = found(ACME, [content, day]);
  const vectorOf = (text: string) => (text.includes("lunch") ? OTHER : NEAR);
  expect(await order("where does Sam work", ranked, vectorOf)).toEqual(
    ranked.map(({ memory }) => [memory.content, undefined]),
  );
});

test("turns of a conversation are not newer versions, notes of one subject are", async () => {
  const marksOf = async (question: string, ranked: Ranked) =>
    (await order(question, ranked)).map(([, newer]) => newer);
  const turns = found(["Sam: I work at Acme.", 1], ["Sam: I work at Globex now.", 60]).map(
    (one) => ({ ...one, memory: { ...one.memory, sessionId: "s-1" } }),
  );
  expect(await marksOf("where does Sam work", turns)).toEqual([undefined, undefined]);
  const notes = found(["Python: line length 79", 1], ["Python: line length 100", 60]);
  const question = "What line length does the Python code have?";
  expect(await marksOf(question, notes)).toEqual([undefined, "mem_60"]);
});

test("a search over HTTP puts the current version first, and marks the others", async () => {
  await using server = await startServer({ embedder: sharedEmbedder() });
  const ada = await server.account();
  const old = await ada.save({ content: "The wifi password of the guests is tulip-garden." });
  server.clock.advance(86_400_000);
  const { id } = await ada.save({
    content: "The wifi password of the guests is now harbour-lamp.",
  });
  const results = await ada.search("wifi password of the guests");
  expect(contentsOf(results)[0]).toContain("harbour-lamp");
  expect(results.map(({ newer }) => newer)).toEqual([undefined, id]);
  expect(results[1]?.id).toBe(old.id);
  expect(results[0]?.replaces).toEqual([old.id]);

  // It has fewer of the words, and gets the place of the other one.
  server.clock.advance(86_400_000);
  await ada.save({
    content: "Correction: the wifi password of the guests is wrong. It is now copper-kettle.",
  });
  const explained = await ada.search("wifi password of the guests is", {
    explain: "true",
    decay: "false",
  });
  expect(explained[0]?.content).toContain("copper-kettle");
  expect(explained[0]?.explanation?.time).toBeGreaterThan(0);
  for (const { score, explanation } of explained) {
    const { relevance = 0, retention: _, decay: __, ...parts } = explanation ?? {};
    const sum = Object.values(parts).reduce((all, part) => all + part, 0);
    expect(relevance).toBeCloseTo(score, 3);
    expect(1 / (1 + Math.exp(-sum))).toBeCloseTo(relevance, 3);
  }
});

test("what says that something is over comes before what names it, although it does not repeat what it was for", async () => {
  await using server = await startServer({ embedder: sharedEmbedder() });
  const ada = await server.account();
  const old = await ada.save({ content: "Use eslint for linting." });
  server.clock.advance(86_400_000);
  const { id } = await ada.save({ content: "Replaced eslint with biome." });
  const [first, second] = await ada.search("Which linter do we use?");
  expect(first).toMatchObject({ id, replaces: [old.id] });
  expect(second).toMatchObject({ id: old.id, newer: id });
});

test("a negation of the same words is the newer version, and no repetition", async () => {
  await using server = await startServer({ embedder: sharedEmbedder() });
  const ada = await server.account();
  const old = await ada.save({ content: "Deploys need approval." });
  server.clock.advance(1_000);
  const json = { content: "Deploys do *not* need approval." };
  const { body } = await ada.send("POST", "/memories?similar=true", { json });
  expect(body).toMatchObject({ similar: [{ id: old.id, kind: "changed" }] });
  const [first, second] = await ada.search("do deploys need approval?");
  expect(first).toMatchObject({ ...json, replaces: [old.id] });
  expect(second).toMatchObject({ id: old.id, newer: first?.id });
});

test("two texts of the same words are opposites if one of them denies, whatever their apostrophes", () => {
  const memory = (content: string) => ({ content, createdAt: 0, sessionId: null });
  const areOpposites = (one: string, other: string) => areOpposite(memory(one), memory(other));
  const plain = "Backups begin at five o'clock.";
  expect(areOpposites(plain, "Backups do not begin at five o’clock.")).toBe(true);
  expect(areOpposites("Backups do not begin at five o’clock.", plain)).toBe(true);
  expect(areOpposites(plain, "Deploys do not begin at five o'clock.")).toBe(false);
  expect(areOpposites(plain, "Backups begin at five o’clock.")).toBe(false);
});

test("what is about another thing of the same sentence shape is not newer", async () => {
  await using server = await startServer({ embedder: sharedEmbedder() });
  const ada = await server.account();
  await ada.save({ content: "The staging database of the shop runs on port 6543" });
  server.clock.advance(1_000);
  await ada.save({ content: "The cache of the shop runs on port 6399" });
  const [first, ...others] = await ada.search("which port does the staging database use?");
  expect(first?.content).toContain("6543");
  for (const one of [first, ...others]) expect(one).not.toHaveProperty("newer");
});

test("a question about the past finds what was superseded, and one about now does not", async () => {
  await using server = await startServer({ embedder: sharedEmbedder() });
  const client = await server.account();
  const acme = await client.save({ content: "Sam works at Acme." });
  await client.save({ content: "Sam works at Initech.", supersedes: acme.id });
  const past = await client.search("where did Sam work before?", { known: "true" });
  expect(contentsOf(past)[0]).toBe("Sam works at Acme.");
  expect(contentsOf(await client.search("where does Sam work?"))).toEqual([
    "Sam works at Initech.",
  ]);
});

test("a text that takes back what was saved just before it is the newer version", async () => {
  await using server = await startServer({ embedder: sharedEmbedder() });
  const ada = await server.account();
  await ada.save({ content: "The cache of the shop runs on port 6399." });
  server.clock.advance(60_000);
  const old = await ada.save({ content: "We use Postgres as the database of the shop." });
  server.clock.advance(60_000);
  const { id } = await ada.save({ content: "Scrap that, MySQL from now on." });
  const [first, second] = await ada.search("which database does the shop use?", { known: "true" });
  expect(first).toMatchObject({ id, replaces: [old.id] });
  expect(second).toMatchObject({ id: old.id, newer: id });
  // It does not surely take back what was saved an hour before, so nothing is marked.
  const bob = await server.account();
  await bob.save({ content: "We use Postgres as the database of the shop." });
  server.clock.advance(3_600_000);
  await bob.save({ content: "Scrap that, MySQL from now on." });
  const results = await bob.search("which database does the shop use?");
  expect(results).toHaveLength(2);
  for (const one of results) expect(one).not.toHaveProperty("newer");
});
