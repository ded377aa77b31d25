import { describe, expect, test } from "bun:test";
import { dayOf, type Kind } from "../../src/activity/action.ts";
import { type AgentDay, agentStates } from "../../src/uses/agent-states.ts";

const DAY = 86_400_000;
const NOW = Date.parse("2026-11-27T12:00:00Z");
const machines = [
  { id: "local", name: "this machine", isPaused: false },
  { id: "key_1", name: "laptop", isPaused: false },
  { id: "key_2", name: "old laptop", isPaused: true },
];

const did = (
  kind: Kind,
  ago: number,
  { sourceId = "key_1", agent = "codex", times = 1, memories = 1 } = {},
): AgentDay => ({
  ...{ sourceId, agent, kind, times, memories },
  day: dayOf(NOW - ago * DAY),
  lastAt: new Date(NOW - ago * DAY),
});
const warnings = (days: readonly AgentDay[], capturing: readonly string[] = []) =>
  agentStates(days, { machines, ofUse: [], capturing, now: NOW }).flatMap((state) =>
    state.warnings.map((each) => `${state.agent} on ${state.machine} ${each}`),
  );

test("an agent's captures, recalls and memories are told with how many were of use", () => {
  const days = [
    did("captured", 3, { memories: 40 }),
    did("captured", 2, { memories: 10 }),
    did("saved", 2, { memories: 2 }),
    did("imported", 2, { memories: 100 }),
    did("recalled", 1),
    did("searched", 1, { agent: "claude" }),
    did("searched", 1, { sourceId: "key_of_nobody" }),
  ];
  const ofUse = [{ sourceId: "key_1", agent: "codex", memories: 7 }];
  expect(agentStates(days, { machines, ofUse, now: NOW })).toMatchObject([
    {
      ...{ machine: "laptop", agent: "codex", brought: 152, ofUse: 7, warnings: [] },
      ...{ lastCapture: new Date(NOW - 2 * DAY), lastRecall: new Date(NOW - DAY) },
    },
    { agent: "claude", brought: 0, ofUse: 0, lastCapture: null, lastRecall: null },
  ]);
  const uncounted = agentStates(days, { machines, ofUse: null, now: NOW });
  expect(uncounted.map((state) => state.ofUse)).toEqual([null, null]);
});

describe("an agent that captured before and is active without capturing", () => {
  const dead = [did("captured", 20), did("recalled", 3), did("searched", 1)];
  test("is warned about", () => {
    expect(warnings(dead)).toEqual([
      "codex on laptop was active on 2 days and captured nothing since 2026-11-07",
    ]);
  });
  test("is not after a day of activity, or if it was active before its last capture", () => {
    expect(warnings([did("captured", 20), did("searched", 1)])).toEqual([]);
    expect(warnings([...dead, did("captured", 1)])).toEqual([]);
    expect(warnings([did("captured", 60), did("searched", 30), did("searched", 29)])).toEqual([]);
  });
  test("is not while it is paused", () => {
    expect(warnings(dead.map((day) => ({ ...day, sourceId: "key_2" })))).toEqual([]);
  });
});

test("an agent whose hooks capture is warned about without an earlier capture, and no other one", () => {
  const days = [did("saved", 2, { sourceId: "local" }), did("searched", 1, { sourceId: "local" })];
  expect(warnings(days)).toEqual([]);
  expect(warnings(days, ["claude-code"])).toEqual([]);
  expect(warnings(days, ["codex"])).toEqual([
    "codex on this machine was active on 2 days and captured nothing so far",
  ]);
});

test("recalls that brought nothing for two weeks are warned about", () => {
  const vain = Array.from({ length: 15 }, (_, ago) =>
    did("recalled", ago, { times: 2, memories: 0 }),
  );
  expect(warnings(vain)).toEqual([
    "codex on laptop asked 28 times in 14 days what to recall, and got nothing",
  ]);
  expect(warnings(vain.slice(0, 10))).toEqual([]);
  expect(warnings([...vain, did("recalled", 9)])).toEqual([]);
  expect(warnings(vain.map((day) => ({ ...day, times: 1 })))).toEqual([]);
});
