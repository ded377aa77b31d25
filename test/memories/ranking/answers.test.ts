import { expect, test } from "bun:test";
import type { Relate } from "../../../src/embedding/relations/relater.ts";
import { doubtAnswers, readAnswers } from "../../../src/memories/ranking/answers.ts";
import { answersAmong, FLOOR } from "../../../src/memories/ranking/chance.ts";
import { readQuestion } from "../../../src/memories/ranking/question.ts";
import { explain, type Ranked } from "../../../src/memories/ranking/rank.ts";
import { chanceOf } from "../../../src/memories/ranking/relevance.ts";
import { SIGNALS } from "../../../src/memories/ranking/signals/signals.ts";

const LONG = "Minutes of a long meeting about many things. ".repeat(20);

/** A result with log-odds, which is as high as them. */
function result(content: string, logOdds: number): Ranked {
  const [chance, signals] = [chanceOf(logOdds), new Float64Array(SIGNALS.length)];
  const memory = { content, id: content, createdAt: 0, sessionId: null } as Ranked["memory"];
  const sums = { sum: logOdds, order: logOdds, logOdds, retention: 1 };
  return { memory, passage: 0, score: chance, chance, signals, ...sums } as Ranked;
}

/** A model that says yes to what has an exclamation mark. */
const modelOf =
  (calls: string[] = []): Relate =>
  async (_, memory) => {
    calls.push(memory);
    return { same: 0, changed: 0, answers: memory.includes("!") ? 1 : 0 };
  };
const asked = (text: string) =>
  ({ ...readQuestion(text, 0), mode: "hybrid", decay: null }) as const;

async function read(text: string, results: readonly Ranked[], calls: string[] = []) {
  const question = asked(text);
  return { found: await readAnswers(question, results, modelOf(calls)), question };
}
const contentsOf = (found: readonly Ranked[]) => found.map(({ memory }) => memory.content);

test("what answers takes the best place, each place keeps its chance, and what was not read its place", async () => {
  const { found } = await read("which port has the cache?", [
    result("The port of the web is 80.", 3),
    result(LONG, 2.95),
    result("The port of the cache is 81!", 2.9),
  ]);
  expect(contentsOf(found)).toEqual([
    "The port of the cache is 81!",
    LONG,
    "The port of the web is 80.",
  ]);
  for (const [at, logOdds] of [3, 2.95, 2.9].entries()) {
    expect(found[at]?.chance).toBeCloseTo(chanceOf(logOdds), 5);
  }
});

test("a memory that names what the question names comes before one that answers, at the chance of its place", async () => {
  const { found } = await read("which region has api2?", [
    result("The region of api1 is Oslo!", 3),
    result("The region of api2 is Bern.", 1.5),
    result("The region of api3 is Rome.", 1.2),
  ]);
  expect(contentsOf(found)[0]).toContain("api2");
  expect(found[0]?.chance).toBeCloseTo(chanceOf(3), 5);
});

test("a memory that is much less likely is not read, whatever it names", async () => {
  const calls: string[] = [];
  const results = [
    result("The region of api1 is Oslo.", 3),
    result("The region of api3 is Rome.", 2.5),
    result("Deploys of api2 need two reviews.", -2.2),
  ];
  const { found } = await read("which region has api2?", results, calls);
  expect(calls).toHaveLength(2);
  expect(contentsOf(found)[2]).toContain("Deploys");
  expect(found[0]?.chance).toBeCloseTo(chanceOf(3), 5);
});

test("no memory is read that can't come first any more", async () => {
  const calls: string[] = [];
  const results = [
    result("The port of the web is 80.", 3),
    result("The port of the cache is 81!", 2.9),
    result("The port of the queue is 82!", 2.8),
  ];
  const { found } = await read("which port has the cache?", results, calls);
  expect(calls).toEqual(contentsOf(results).slice(0, 2));
  expect(contentsOf(found)).toEqual(contentsOf([1, 0, 2].flatMap((at) => results[at] ?? [])));
  calls.length = 0;
  await read("which port has db_1?", [result("The port of db_1 is 80.", 2.7), ...results], calls);
  expect(calls).toEqual([]);
});

test("orders, chances and scores fall, and explanations add up", async () => {
  const results = Array.from({ length: 8 }, (_, at) =>
    result(`The port of service ${"abcdefgh"[at]} is 80${at % 3 === 1 ? "!" : "."}`, 3 - at / 5),
  );
  const { found, question } = await read("which port has the cache?", results);
  expect(new Set(contentsOf(found))).toEqual(new Set(contentsOf(results)));
  for (const figure of ["order", "chance", "score"] as const) {
    const figures = found.map((one) => one[figure]);
    expect(figures).toEqual(figures.toSorted((a, b) => b - a));
  }
  for (const one of found) {
    expect(explain(one, question).relevance).toBeCloseTo(one.chance, 3);
    expect(explain(one, question).time).toBe(0);
  }
});

test("unlikely results are read only if that is asked for", async () => {
  const results = [result("The port of the web is 80.", 0.2), result("Its port is 81!", 0.1)];
  expect((await read("which port has the cache?", results)).found).toBe(results);
  const found = await readAnswers(asked("which port has the cache?"), results, modelOf(), true);
  expect(contentsOf(found)[0]).toContain("81");
});

const doubt = (question: ReturnType<typeof asked>, results: readonly Ranked[], relate: Relate) =>
  doubtAnswers({ question, considered: results }, results, relate);

const NEAR = [
  result("The port of the web is 80.", 2),
  result("The region of the cache is Oslo.", 1.9),
  result("The port of the queue is 82.", 1.8),
  result("Deploys need two reviews.", 0.5),
];

test("all results are much less likely if none of the first answers, and stay in their order", async () => {
  const question = asked("which port has the cache?");
  const found = await doubt(question, NEAR, modelOf());
  expect(contentsOf(found)).toEqual(contentsOf(NEAR));
  for (const [at, { chance, score, logOdds }] of found.entries()) {
    expect(chance).toBeLessThan(0.1 * (NEAR[at]?.chance ?? 0));
    expect(score).toBeCloseTo(chance, 3);
    expect(explain(found[at] as Ranked, question).relevance).toBeCloseTo(chanceOf(logOdds), 3);
  }
});

test("tasks and long questions are not doubted, but subjects are", async () => {
  const long = `${LONG} Which port has the cache?`;
  for (const text of ["Move the port of the cache to 83", long]) {
    expect(await doubt(asked(text), NEAR, modelOf())).toBe(NEAR);
  }
  expect(await doubt(asked("port of the cache"), NEAR, modelOf())).not.toBe(NEAR);
});

test("what is said in other words altogether is doubted only if the model is sure", async () => {
  const results = [result("Sam is allergic to peanuts.", 1), result("Ida likes tea.", 0.5)];
  const relate =
    (answers: number): Relate =>
    async () => ({ same: 0, changed: 0, answers });
  const question = asked("what must nobody cook for him?");
  expect(await doubt(question, results, relate(0.05))).toBe(results);
  expect((await doubt(question, results, relate(0.001)))[0]?.chance).toBeLessThan(0.1);
});

test.each<[string, Ranked, string]>([
  ["one of the first can't be read", result(LONG, 1.95), "which port has the cache?"],
  [
    "the question is about the past",
    result("It is 83.", 1.85),
    "which port did the cache use to have?",
  ],
])("results keep their chances where %s", async (_, more, text) => {
  const results = [...NEAR, more].sort((a, b) => b.order - a.order);
  expect(await doubt(asked(text), results, modelOf())).toBe(results);
});

test("beside what answers, the further results become unlikely that surely do not, and come last", async () => {
  const chances: Record<string, number> = {
    "Its port is 81.": 0.9,
    "It is warm.": 0.1,
    "It is new.": 0.01,
  };
  const relate: Relate = async (_, memory) => ({
    same: 0,
    changed: 0,
    answers: chances[memory] ?? 0,
  });
  const first = result("Its port is 81.", 2.5);
  const kept = [
    result(LONG, 2.2),
    { ...result("It was 80.", 2.1), newer: first.memory.id },
    result("It is warm.", 2),
  ];
  const lost = [result("It is new.", 2.3), result("The region of the cache is Oslo.", 1.9)];
  const before = result("The port of the web is 80.", 2.6);
  const results = [before, first, ...kept, ...lost].sort((a, b) => b.order - a.order);
  const found = await doubt(asked("which port has the cache?"), results, relate);
  expect(contentsOf(found)).toEqual(contentsOf([before, first, ...kept, ...lost]));
  for (const { memory, chance } of found.slice(0, 5)) {
    expect(chance).toBe(results.find((one) => one.memory === memory)?.chance ?? 0);
  }
  expect(answersAmong(found)).toEqual(found.slice(0, 5));
});

test("what nobody reads behind the last one that does not answer is not returned either", async () => {
  const results = Array.from({ length: 12 }, (_, at) =>
    result(at === 0 ? "It is 81!" : `${at} is warm.`, (at === 0 ? 3 : 2) - at / 20),
  );
  const calls: string[] = [];
  const found = await doubt(asked("which port has the cache?"), results, modelOf(calls));
  expect(calls.length).toBeLessThan(results.length);
  expect(answersAmong(found)).toEqual(found.slice(0, 1));
});

test("results keep their chances while the model is busy", async () => {
  const busy: Relate = async () => null;
  expect(await doubt(asked("which port has the cache?"), NEAR, busy)).toBe(NEAR);
});

test("what tells the very attribute that is asked for comes first, and no other is read", async () => {
  const calls: string[] = [];
  const others = Array.from({ length: 9 }, (_, at) =>
    result(`The port of web${at} is 80!`, 3 - at / 10),
  );
  const told = result("The port of the cache is 81!", 1.5);
  const { found } = await read("what is the port of the cache?", [...others, told], calls);
  expect(contentsOf(found)[0]).toBe("The port of the cache is 81!");
  expect(found[0]?.chance).toBeCloseTo(chanceOf(3), 5);
  expect(calls).toEqual(["The port of the cache is 81!"]);
});

test("what says something else of that attribute does not come first for its words", async () => {
  const results = [
    result("The cache listens on 6399!", 3),
    result("The port of the cache is a secret.", 2.9),
  ];
  const { found } = await read("what is the port of the cache?", results);
  expect(contentsOf(found)[0]).toBe("The cache listens on 6399!");
});

test("another thing's attribute must surely answer: a chance of .5 is not enough", async () => {
  const maybe: Relate = async () => ({ same: 0, changed: 0, answers: 0.5 });
  const results = [result("The port of the web is 80.", 3)];
  const lost = await doubt(asked("what is the port of the cache?"), results, maybe);
  const kept = await doubt(asked("what is the port of the web?"), results, maybe);
  expect(lost[0]?.chance).toBeLessThan(chanceOf(1));
  expect(kept).toBe(results);
});

test.each([
  ["of another attribute", "The region of the cache is Oslo.", true],
  ["of a thing with a longer name", "The port of the web cache is 82.", false],
  ["in other words", "The cache listens on 82.", false],
])(
  "where the attribute and the thing have names here, a likely answer %s",
  async (_, content, isLost) => {
    const likely: Relate = async () => ({ same: 0, changed: 0, answers: 0.85 });
    const question = asked("what is the port of the cache?");
    const results = [result(content, 3)];
    const named = [
      ...results,
      result("The port of the web is 80.", 1),
      result("The owner of the cache is Ann.", 1),
    ];
    const found = await doubtAnswers({ question, considered: named }, results, likely);
    if (isLost) expect(found[0]?.chance).toBeLessThan(0.01);
    else expect(found).toBe(results);
    expect(await doubt(question, results, likely)).toBe(results);
  },
);

test("where both have names here, one result that tells no attribute keeps none of the others likely", async () => {
  const unlikely: Relate = async (_, memory) => ({
    ...{ same: 0, changed: 0 },
    answers: memory.includes("warm") ? 0.01 : 0.002,
  });
  const question = asked("what is the port of the cache?");
  const results = [
    result("The port of the web is 80.", 4.6),
    result("The owner of the cache is Ann.", 4.5),
    result("The cache is warm.", 4.4),
  ];
  expect((await doubt(question, results, unlikely))[0]?.chance).toBeLessThan(FLOOR);
});
