import { expect, test } from "bun:test";
import type { Base, BaseQuestion } from "../../../src/memories/base/base.ts";
import { tokensOf } from "../../../src/memories/indexes/tokens.ts";
import { type Filter, ORDERS, passes } from "../../../src/memories/model/filter.ts";
import type { StoredMemory } from "../../../src/memories/model/rows.ts";
import {
  changesOf,
  embedQuery,
  idOf,
  listed,
  model,
  storedMemory,
  testBases,
} from "../../support/bases.ts";
import { outcomeOf } from "../../support/outcome.ts";
import { createRandom } from "../../support/random.ts";
import { filterFrom } from "../../support/random-filter.ts";

const random = createRandom(5);
const TAGS = ["red", "blue", "it's", "緑"];
const AGENTS = ["ada", "O'Hara"];
const SESSIONS = ["s1", "s2", "s'3"];
const WORDS = ["apple", "pear", "plum", "quince"];

const some = <Value>(values: readonly Value[]) => values.filter(() => random.below(2) === 0);
const maybe = <Value>(value: Value) => (random.below(3) === 0 ? value : null);
const pick = (values: readonly string[]) => random.pick(values) ?? "";

function filterOf(): Filter {
  const at = random.below(200);
  return filterFrom(
    {
      tags: () => some(TAGS),
      tagsMatch: () => (random.below(2) ? "any" : "all"),
      agentId: () => pick(AGENTS),
      sessionId: () => pick(SESSIONS),
      projects: () => some(["atlas", "o'neill", null]),
      sourceId: () => pick(["key_1", "key_2"]),
      isCaptured: () => random.below(2) === 0,
      isPinned: () => random.below(2) === 0,
      importanceFrom: () => random.below(10) / 10,
      knownAt: () => random.below(220),
      isCurrent: () => true,
      expiresBefore: () => random.below(400),
      aliveAt: () => random.below(400),
      createdAfter: () => at,
      createdBefore: () => at + random.below(100),
      only: () => Array.from({ length: random.below(99) }, () => idOf(random.below(200))),
      except: () => Array.from({ length: 9 }, () => idOf(random.below(200))),
    },
    () => maybe(1) !== null,
  );
}

/** Some have a further passage. Several were created at the same moment. */
const memoryOf = (number: number) =>
  storedMemory(number, {
    content: [pick(WORDS), "and", pick(WORDS), ...(number % 5 ? [] : ["\n\nmore"])].join(" "),
    tags: some(TAGS),
    agentId: maybe(pick(AGENTS)),
    sessionId: maybe(pick(SESSIONS)),
    project: maybe(pick(["atlas", "o'neill"])),
    // Chains of which some are broken, and links that lead back.
    supersededBy: maybe(idOf(random.below(4) ? number + 1 : random.below(220))),
    importance: random.below(10) / 10,
    pinned: random.below(2) === 0,
    expiresAt: maybe(random.below(400)),
    source: maybe({ via: random.pick(["api", "capture"]) ?? "api", by: "laptop", id: "key_1" }),
    createdAt: number - (number % 3),
  });

async function openBase(memories: readonly StoredMemory[]) {
  const bases = await testBases();
  const options = { upTo: 1, model };
  const base = await bases.open(await bases.rewrite("acc", null, changesOf(memories), options));
  return { bases, base };
}

const idsOf = (memories: readonly { id: string }[]) => memories.map(({ id }) => id).sort();
const all = { filter: {}, limit: 1_000, except: [] };

test("what passes a filter in memory is what a base finds, lists and searches", async () => {
  const memories = await Promise.all(Array.from({ length: 200 }, (_, index) => memoryOf(index)));
  const byId = new Map(memories.map((memory) => [memory.id, memory]));
  const find = (id: string) => byId.get(id);
  const { bases, base } = await openBase(memories);
  await bases.index(base, false);
  const vector = await embedQuery("apple");
  for (let turn = 0; turn < 40; turn++) {
    const filter = filterOf();
    const except = some(idsOf(memories)).slice(0, 20);
    const passing = memories.filter(
      (memory) => passes(filter, memory, find) && !except.includes(memory.id),
    );
    const question = { filter, except, limit: 1_000 };
    const near = await base.search({ ...question, vector, words: [] });
    expect({ filter, ids: idsOf(near) }).toEqual({ filter, ids: idsOf(passing) });
    const matching = await base.search({
      ...question,
      vector: null,
      words: tokensOf("apple or plum"),
    });
    const matched = passing.filter(({ content }) => /apple|plum/.test(content));
    expect({ filter, ids: idsOf(matching) }).toEqual({ filter, ids: idsOf(matched) });
    const sessions = some(SESSIONS);
    const around = await base.ofSessions(sessions, filter, except);
    const inThem = passing.filter(({ sessionId }) => sessions.includes(sessionId ?? "none"));
    expect({ filter, ids: idsOf(around) }).toEqual({ filter, ids: idsOf(inThem) });
    const order = random.pick(ORDERS) ?? "newest";
    const byImportance = order === "importance" ? 1 : 0;
    const first = [...passing].sort(
      (a, b) =>
        byImportance * (b.importance - a.importance) ||
        b.createdAt - a.createdAt ||
        (a.id < b.id ? 1 : -1),
    );
    const ids = first.map(({ id }) => id);
    expect(await base.count(filter)).toBe(
      memories.filter((each) => passes(filter, each, find)).length,
    );
    expect(await listed(base, filter, { from: null, except, order })).toEqual(ids);
    const [, after] = first;
    if (!after) continue;
    const page = await listed(base, filter, { from: after, except, limit: 3, order });
    expect(page).toEqual(ids.slice(2, 5));
    const last = first.at(-1);
    if (!last) continue;
    const before = { from: { ...last, isBackward: true }, except, limit: 3, order };
    expect(await listed(base, filter, before)).toEqual(ids.slice(0, -1).slice(-3));
  }
});

test("the first memory of a base that expires or is superseded is left out", async () => {
  const { bases, base } = await openBase([await storedMemory(1)]);
  const vector = await embedQuery("number");
  const filter = { isCurrent: true, aliveAt: 100 };
  const find = async () => idsOf(await base.search({ ...all, vector, words: [], filter }));
  expect(await find()).toEqual([idOf(1)]);
  const added = [
    await storedMemory(2, { expiresAt: 100 }),
    await storedMemory(3, { expiresAt: 101 }),
    await storedMemory(4, { supersededBy: idOf(3) }),
  ];
  await bases.append(base, added, 2);
  expect(await find()).toEqual([idOf(1), idOf(3)]);
  expect(await listed(base, filter, { from: null, except: [] })).toEqual([idOf(3), idOf(1)]);
});

test("the nearest passages and the best matches come with all vectors of their memories", async () => {
  const long = await storedMemory(1, { content: "the apple\n\na plum\n\nquince" });
  const { bases, base } = await openBase([long, await storedMemory(2, { content: "pear" })]);
  await bases.index(base, true);
  const question = { ...all, limit: 1, vector: await embedQuery("quince"), words: ["plum"] };
  expect(await base.search(question)).toEqual([long]);
  expect(await base.search({ ...question, vector: null, words: tokensOf("the") })).toEqual([]);
  expect(await base.search({ ...question, vector: null, words: [] })).toEqual([]);
});

test("a limit is filled although what is left out is nearest, all passages of it", async () => {
  const near = await Promise.all(
    [0, 1, 2].map((number) =>
      storedMemory(number, { content: "apple\n\napple\n\napple\n\napple" }),
    ),
  );
  const far = [await storedMemory(8, { content: "pear" }), await storedMemory(9)];
  const { base } = await openBase([...near, ...far]);
  const vector = await embedQuery("apple");
  const question: BaseQuestion = { ...all, vector, words: [], limit: 2, except: idsOf(near) };
  expect(idsOf(await base.search(question))).toEqual(idsOf(far));
});

test("words find nothing before there is an index, and new rows are found after that", async () => {
  const { bases, base } = await openBase([await storedMemory(1, { content: "an apple" })]);
  const matching = async (at: Base) =>
    idsOf(await at.search({ ...all, vector: null, words: ["appl"] }));
  expect(await matching(base)).toEqual([]);
  expect(await base.countTexts(["appl"])).toEqual(new Map([["appl", 0]]));
  const checkpoint = await bases.index(base, false);
  expect(base.isIndexed).toBe(true);
  expect(await matching(base)).toEqual([idOf(1)]);
  await bases.append(base, [await storedMemory(2, { content: "apples\n\nand apples" })], 2);
  expect(await matching(base)).toEqual([idOf(1), idOf(2)]);
  const counts = { appl: 2, nowher: 0 };
  expect(await base.countTexts(["appl", "nowher"])).toEqual(new Map(Object.entries(counts)));
  // What was recorded before is still there as it was.
  expect(await matching(await bases.open(checkpoint))).toEqual([idOf(1)]);
});

/** Values that end a string, a condition or a program in one language or another. */
const TRICKS = [
  ...["' OR 1=1 --", "' OR '1'='1", "'; DROP TABLE memories; --", "''", "'", "\\' OR 1=1 --"],
  ...["x') OR (id IS NOT NULL) OR ('", "x']) OR array_has_any(tags, [''", '" OR 1=1 --', '"'],
  ...["\\", "`", "%", "_", "*", "’ OR 1=1 --", "ʼ OR 1=1 --", "＇ OR 1=1 --", "%27 OR 1=1 --"],
  ...["{{id}}", "/* */", "a\nb", "\u0000' OR 1=1 --", "x\u0000", "null", "true", "NaN", "../ada"],
];

test("whatever a value says, it is compared and never run", async () => {
  const memories = await Promise.all(
    TRICKS.map((trick, number) =>
      storedMemory(number, { tags: [trick], agentId: trick, sessionId: trick }),
    ),
  );
  const { bases, base } = await openBase([...memories, await storedMemory(100)]);
  await bases.index(base, false);
  const vector = await embedQuery("number");
  for (const [number, trick] of TRICKS.entries()) {
    const only = [idOf(number)];
    for (const filter of [{ tags: [trick] }, { agentId: trick }, { sessionId: trick }]) {
      expect(await listed(base, filter, { from: null, except: [trick] })).toEqual(only);
      expect(idsOf(await base.search({ ...all, vector, words: tokensOf(trick), filter }))).toEqual(
        only,
      );
    }
    expect(idsOf(await base.ofSessions([trick], {}, [trick]))).toEqual(only);
    expect(await base.find([trick])).toEqual([]);
    expect(await base.load([trick])).toEqual([]);
    const after = { createdAt: 0, id: trick };
    expect(await listed(base, {}, { from: after, except: [] })).not.toContain(idOf(100));
    await base.countTexts([trick, ...tokensOf(trick)]);
    await base.nearWords(trick).catch((error) => expect(error).toBeInstanceOf(RangeError));
  }
  // Ids of changes are put into a condition too.
  const changes = changesOf([], TRICKS);
  const rewritten = await bases.rewrite("acc", base, changes, { upTo: 2, model });
  expect((await bases.open(rewritten)).rows).toBe(TRICKS.length + 1);
});

test("a time that is no whole number is not written into a condition", async () => {
  const { base } = await openBase([await storedMemory(1)]);
  const filter = { createdAfter: Number.NaN };
  expect(await outcomeOf(listed(base, filter, { from: null, except: [] }))).toThrow(RangeError);
});
