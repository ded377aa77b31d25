import { describe, expect, test } from "bun:test";
import { type Candidate, type MemoryRow, UNSET } from "../../../src/memories/model/rows.ts";
import { consider, placeInSessions } from "../../../src/memories/ranking/considered.ts";
import { type Question, readQuestion } from "../../../src/memories/ranking/question.ts";
import { partsOf, sumOf, WEIGHTS } from "../../../src/memories/ranking/rank.ts";
import { interactionWeights } from "../../../src/memories/ranking/signals/interaction.ts";
import {
  SIGNALS,
  SIGNALS_OF_ALL,
  SIGNALS_OF_TEXT,
  SIGNALS_OF_WORDS,
  signalReader,
} from "../../../src/memories/ranking/signals/signals.ts";
import learned from "../../../src/memories/ranking/weights.json" with { type: "json" };

const DAY = 86_400_000;
const NOW = Date.parse("2026-06-01T00:00:00Z");

const question = ({ text = "words", ...fields }: Partial<Question> = {}): Question => ({
  ...readQuestion(text, NOW),
  ...{ mode: "hybrid", model: { cosines: { unrelated: 0.4, same: 1 } } },
  terms: ["red", "kite"].map((token) => ({ token, rareness: 4, forms: [] })),
  ...{ understood: 1, memories: 1_000, decay: null },
  ...fields,
});

type Fields = Partial<Omit<Candidate, "memory"> & MemoryRow>;
const candidate = ({
  cosine = 0.7,
  matches = [0, 0],
  ...fields
}: Omit<Fields, "matches"> & { matches?: number[] }): Candidate => ({
  memory: {
    ...UNSET,
    ...{ id: "a", content: "x".repeat(200), createdAt: NOW, updatedAt: NOW, starts: [0] },
    ...fields,
  },
  ...{ cosine, passage: 0, matches: Float32Array.from(matches) },
});

/** The signals of each candidate, by their names. */
function signalsOf(
  candidates: readonly Candidate[],
  asked: Question,
  interactions: readonly number[] = [],
) {
  const all = consider(candidates, asked);
  placeInSessions(all, new Set(all.flatMap(({ memory }) => memory.sessionId ?? [])));
  for (const [at, one] of all.entries()) one.interaction = interactions[at] ?? null;
  return all.map((one) => {
    const row = new Float64Array(SIGNALS.length);
    for (const kinds of [SIGNALS_OF_ALL, SIGNALS_OF_WORDS, SIGNALS_OF_TEXT])
      signalReader(kinds, asked, all)(one, row);
    return Object.fromEntries(SIGNALS.map(({ name }, at) => [name, row[at] ?? 0]));
  });
}
const signalOf = (name: string, candidates: readonly Candidate[], asked = question()) =>
  signalsOf(candidates, asked).map((signals) => signals[name]);

test("every signal has a weight, and every weight a signal", () => {
  expect(Object.keys(learned.weights).sort()).toEqual(SIGNALS.map(({ name }) => name).sort());
});

test("the parts of an explanation add up to the sum of all signals", () => {
  const row = Float64Array.from(SIGNALS, (_, at) => 1 + at);
  const parts = Object.values(partsOf(row, WEIGHTS)).reduce((sum, part) => sum + part, 0);
  expect(WEIGHTS.start + parts).toBeCloseTo(sumOf(row, WEIGHTS), 9);
});

test("what does not apply to a memory is neither for nor against it", () => {
  const [signals = {}] = signalsOf([candidate({})], question());
  const { meaning, interaction, ...others } = signals;
  expect(meaning).toBeGreaterThan(0);
  expect(interaction).toBeGreaterThan(0);
  expect([...new Set(Object.values(others))]).toEqual([0]);
});

describe("words", () => {
  test("that a memory has count by how rare they are", () => {
    const terms = [4, 1].map((rareness) => ({ token: "word", rareness, forms: [] }));
    const [rare = 0, frequent = 0, both = 0] = signalOf(
      "coverage",
      [
        candidate({ id: "a", matches: [1, 0] }),
        candidate({ id: "b", matches: [0, 1] }),
        candidate({ id: "c", matches: [1, 1] }),
      ],
      question({ terms }),
    );
    expect(rare).toBeCloseTo(4 * frequent);
    expect(both).toBeCloseTo(rare + frequent);
  });

  test("of a long memory count less, but its meaning does not", () => {
    const content = "x".repeat(2_000);
    const [found, short, near] = signalOf("long", [
      candidate({ id: "a", content, matches: [1, 1] }),
      candidate({ id: "b", matches: [1, 1] }),
      candidate({ id: "c", content }),
    ]);
    expect(found).toBeGreaterThan(1);
    expect([short, near]).toEqual([0, 0]);
  });
});

describe("a language that the model does not know", () => {
  test("is ranked by words alone, as in a search by words", () => {
    const given = [candidate({ matches: [1, 1], cosine: 0.9 })];
    const [signals = {}] = signalsOf(given, question({ understood: 0 }), [0.9]);
    expect(signals).toMatchObject({ meaning: 0, interaction: 0 });
    expect(signals.coverage).toBeGreaterThan(0.7);
    const own = (asked: Partial<Question>) => consider(given, question(asked))[0]?.own;
    expect(own({ understood: 0 })).toBe(own({ mode: "keyword" }));
  });
});

describe("words that are compared one by one", () => {
  test("count as they are, and as is usual where a memory has no states", () => {
    const given = [candidate({ id: "a" }), candidate({ id: "b" }), candidate({ id: "c" })];
    const [high = 0, low = 0, unknown = 0] = signalsOf(given, question(), [0.9, 0.1]).map(
      ({ interaction }) => interaction,
    );
    expect([high, low]).toEqual([0.9, 0.1]);
    expect(unknown).toBeWithin(low, high);
  });

  test("of a memory of several passages may be the wrong ones", () => {
    const starts = [0, 900];
    const given = [
      candidate({ id: "a", starts, cosine: 0.95 }),
      candidate({ id: "b", cosine: 0.95 }),
    ];
    const [several = 0, one = 0] = signalsOf(given, question(), [0.1, 0.1]).map(
      ({ interaction }) => interaction,
    );
    expect(one).toBe(0.1);
    expect(several).toBeGreaterThan(0.5);
  });

  test("weigh more when they are rare, and as one when they are cut into pieces", () => {
    const terms = [9, 1].map((rareness, at) => ({
      token: ["kite", "red"][at] ?? "",
      rareness,
      forms: [],
    }));
    expect(interactionWeights(["kite", "red", "zzyzx", "zzyzx"], terms)).toEqual([3, 1, 0.5, 0.5]);
  });
});

describe("a session", () => {
  const turn = (
    id: string,
    createdAt: number,
    fields: Omit<Fields, "matches"> & { matches?: number[] } = {},
  ) => candidate({ id, createdAt, sessionId: "s", ...fields });

  test("lends a memory the words that stand within two places of it, and that it lacks", () => {
    const [first, , third = 0, fourth = 0, fifth] = signalOf("around", [
      turn("a", 1, { matches: [1, 1] }),
      turn("b", 2),
      turn("c", 3),
      turn("d", 4, { matches: [1, 0] }),
      turn("e", 5, { matches: [1, 0] }),
    ]);
    expect(first).toBe(0);
    expect(third).toBe(1);
    // The same the other way round, and in whatever order they come.
    const turns = ["c", "b", "a"].map((id, at) =>
      turn(id, 3 - at, at === 0 ? { matches: [1, 0] } : {}),
    );
    expect(signalOf("around", turns)).toEqual([0, 0.5, 0.5]);
    expect(fourth).toBe(0);
    expect(fifth).toBe(0);
  });

  test("lends a long memory little, and nothing to those of other sessions or none", () => {
    const [, long = 0, other, none] = signalOf("around", [
      turn("a", 1, { matches: [1, 1] }),
      turn("b", 2, { content: "x".repeat(6_000) }),
      turn("c", 3, { sessionId: "t" }),
      turn("d", 4, { sessionId: null }),
    ]);
    expect(long).toBeWithin(0.05, 0.15);
    expect([other, none]).toEqual([0, 0]);
  });

  test("a reply to a relevant question is told from what follows a statement", () => {
    const [, reply = 0, , remark] = signalOf("reply", [
      turn("a", 1, { content: "How high did the red kite fly?", matches: [1, 1] }),
      turn("b", 2, { content: "Up to the clouds." }),
      turn("c", 3, { content: "The red kite is new.", matches: [1, 1] }),
      turn("d", 4, { content: "Up to the clouds." }),
    ]);
    expect(reply).toBeGreaterThan(0.2);
    expect(remark).toBe(0);
  });

  test("what was saved in one request keeps the order of its ids", () => {
    const asks = { content: "How high did the red kite fly?", matches: [1, 1] };
    const [, third, second = 0] = signalOf("reply", [
      turn("a", 0, asks),
      turn("c", 0),
      turn("b", 0),
    ]);
    expect(second).toBeGreaterThan(0);
    expect(third).toBe(0);
  });
});

describe("the wording", () => {
  test("of somebody else than whom the question names is against a memory", () => {
    const contents = ["Ada: it was blue", "Bob: it was blue", "it was blue", "user: it was blue"];
    const said = contents.map((content, id) => candidate({ id: String(id), content }));
    const asked = (text: string) => signalOf("other speaker", said, question({ text }));
    expect(asked("What did Ada's kite look like?")).toEqual([0, 1, 0, 1]);
    expect(asked("What did the kite look like?")).toEqual([0, 0, 0, 0]);
    expect(asked("What did the user say?")).toEqual([0, 0, 0, 0]);
  });

  test("of an assistant is told from that of anybody else, in Chinese too", () => {
    const contents = [
      "assistant: blue",
      "助理：藍色",
      "user: blue",
      "Ada: blue",
      "assistants are blue",
    ];
    const said = contents.map((content, id) => candidate({ id: String(id), content }));
    expect(signalOf("assistant", said)).toEqual([1, 1, 0, 0, 0]);
  });

  test("that tells a time is for a memory where a time is asked for", () => {
    const told = ["We flew it yesterday.", "We flew it."].map((content, id) =>
      candidate({ id: String(id), content }),
    );
    const asked = (text: string) => signalOf("tells when", told, question({ text }));
    expect(asked("When did we fly it?")).toEqual([1, 0]);
    expect(asked("Who flew it?")).toEqual([0, 0]);
  });

  test("of numbers and names in code counts as it is asked for", () => {
    const codes = ["error E_1204 again", "error E_1205 again"].map((content, id) =>
      candidate({ id: String(id), content }),
    );
    expect(signalOf("exact", codes, question({ text: "what is E_1204" }))).toEqual([1, 0]);
  });
});

test("a memory of the time that the question names is ahead", () => {
  const then = candidate({ id: "a", createdAt: Date.parse("2026-05-10T00:00:00Z") });
  const earlier = candidate({ id: "b", createdAt: NOW - 90 * DAY });
  const asked = question({ text: "what did we do in May 2026" });
  expect(signalOf("period", [then, earlier], asked)).toEqual([1, 0]);
});
