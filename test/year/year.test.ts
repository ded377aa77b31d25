import { describe, expect, test } from "bun:test";
import type { FoundMemory } from "../../src/memories/model/found-memory.ts";
import { chartsOf, tableOf, worstMonth } from "./curves.ts";
import { judge, questionsAt } from "./questions.ts";
import { runYear } from "./run.ts";
import { createYear, type Session, WEEK } from "./talk.ts";
import { currentOf } from "./truth.ts";
import { ENGLISH } from "./wording/english.ts";
import { GERMAN } from "./wording/german.ts";

const START = Date.parse("2026-01-01T00:00:00Z");
const LEAST_SHAPES = 30;

/** A year of which some weeks were talked. */
function talked(weeks: number, seed = 1) {
  const year = createYear({ seed, start: START, perWeek: 40 });
  const sessions: Session[] = [];
  for (let week = 0; week < weeks; week++) sessions.push(...year.week(week));
  return { year, sessions };
}

describe("the talk of a year", () => {
  test.each([ENGLISH, GERMAN])("has many shapes of sentences for each kind (%#)", (wording) => {
    const { facts, changes, silentChanges, corrections, withdrawals } = wording;
    for (const shapes of [facts, [...changes, ...silentChanges], corrections, withdrawals]) {
      expect(new Set(shapes).size).toBeGreaterThanOrEqual(LEAST_SHAPES);
    }
  });

  test("is the same for the same seed, and another one for another", () => {
    const said = (seed: number) =>
      talked(2, seed).sessions.flatMap(({ exchanges }) => exchanges.map(({ user }) => user));
    expect(said(1)).toEqual(said(1));
    expect(said(1)).not.toEqual(said(2));
  });

  test("says of each fact the value that it had then", () => {
    const { year, sessions } = talked(12);
    const kinds = new Set<string>();
    for (const { exchanges } of sessions) {
      for (const { kind, user, said } of exchanges) {
        kinds.add(kind);
        if (!said || said.version === null) continue;
        const { fact, version } = said;
        const value = fact.versions[version]?.value[fact.language] ?? "?";
        expect(user.toLowerCase()).toContain(value.toLowerCase());
        expect(year.saidIn(`User: ${user}`)).toEqual(said);
      }
    }
    expect([...kinds].sort()).toEqual([
      "change",
      "correction",
      "fact",
      "greeting",
      "log",
      "question",
      "repetition",
      "request",
      "secret",
      "thanks",
      "withdrawal",
    ]);
  });

  test("is asked about what holds, what changed, what is gone and what was never said", () => {
    const { year } = talked(30);
    const questions = questionsAt(year, START + 30 * WEEK, 1);
    expect(new Set(questions.map(({ kind }) => kind)).size).toBe(5);
    for (const { kind, fact } of questions) {
      expect(currentOf(fact) !== null).toBe(["known", "changed", "outlived"].includes(kind));
    }
  });
});

test("an answer is right, stale, about something else or not there", () => {
  const { year, sessions } = talked(20);
  const changes = sessions.flatMap(({ exchanges }) =>
    exchanges.filter(({ kind }) => kind === "change"),
  );
  const fact = changes.map(({ said }) => said?.fact).find((one) => one && currentOf(one));
  const other = year.facts.find((one) => one !== fact && currentOf(one));
  if (!fact || !other) throw new Error("nothing has changed");
  const say = (content: string, of: typeof fact, version: number) => {
    year.register(content, { fact: of, version });
    return { ...MEMORY, id: content, content };
  };
  const old = say("old", fact, 0);
  const now = say("now", fact, fact.versions.length - 1);
  const others = say("other", other, other.versions.length - 1);
  const first = (...found: FoundMemory[]) => judge(year, { fact }, found).first;
  expect(first(now, old)).toBe("right");
  expect(first(old, now)).toBe("stale");
  expect(first({ ...old, newer: now.id }, now)).toBe("marked");
  expect(first(others, now)).toBe("other");
  expect(first()).toBe("nothing");
  expect(judge(year, { fact }, [{ ...others, newer: now.id }, now])).toMatchObject({
    isFound: true,
    wronglyMarked: 1,
  });
});

test("a week is lived with the real server, its hooks and its tools, and measured", async () => {
  const { months, faults } = await runYear({ seed: 1, perWeek: 20, weeks: 1, cache: null });
  expect(months).toHaveLength(1);
  const [month] = months;
  if (!month) throw new Error("nothing was measured");
  // Two turns for each of four exchanges in a session, some of them the same, and what agents saved.
  expect(month.memories).toBeGreaterThan(120);
  expect(month.leaked).toBe(0);
  expect(month.begin.texts).toBe(20);
  expect(month.prompt.texts).toBe(80);
  expect(month.begin.lines).toBeGreaterThan(20);
  expect(month.kinds.known.found).toBeGreaterThan(5);
  expect(month.kinds.unsaid.questions).toBe(40);
  expect(month.bytes).toBeGreaterThan(100_000);
  expect(faults.every(({ month: number }) => number === 1)).toBe(true);
  expect(tableOf(months)).toContain("| right first |");
  expect(chartsOf(months).flatMap(({ series }) => series)).toHaveLength(16);
  expect(
    worstMonth({ name: "", isBad: true, of: ({ memories }) => memories }, [
      month,
      { ...month, memories: 9_999 },
    ]),
  ).toBe(2);
});

const MEMORY: FoundMemory = {
  id: "",
  content: "",
  tags: [],
  agent_id: null,
  session_id: null,
  project: null,
  importance: 0.5,
  pinned: false,
  expires_at: null,
  supersedes: null,
  superseded_by: null,
  metadata: {},
  source: null,
  created_at: "2026-01-01T00:00:00.000Z",
  updated_at: "2026-01-01T00:00:00.000Z",
  score: 0.5,
  matched: { text: "", start: 0, end: 0 },
};
