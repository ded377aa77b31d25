import type { Action } from "../../src/activity/action.ts";
import type { Activity } from "../../src/activity/activity.ts";
import type { NewMemory } from "../../src/memories/model/memory.ts";

import { createRandom } from "../support/random.ts";

const DAY = 86_400_000;

interface Sample {
  /** How long ago the memory was saved. */
  days: number;
  memory: NewMemory;
}

const memory = (
  days: number,
  content: string,
  tags: string[],
  importance: number,
  agent_id: string,
  session_id = `${agent_id}-${days}`,
): Sample => {
  const project = tags.includes("billing") ? { project: "acme/billing" } : {};
  return { days, memory: { content, tags, importance, agent_id, session_id, ...project } };
};

/** Sample memories of an account: months of work with several agents, oldest first. */
export const SAMPLES: readonly Sample[] = [
  memory(
    211,
    "Sam prefers short answers with an example instead of long explanations.",
    ["preferences"],
    0.9,
    "claude-code",
  ),
  memory(
    209,
    "Sam's working hours are 8:00 to 16:00, Lisbon time.",
    ["preferences", "time"],
    0.6,
    "claude-desktop",
  ),
  memory(
    180,
    "The billing service is written in Go and lives in the folder services/billing.",
    ["billing", "architecture"],
    0.7,
    "claude-code",
  ),
  memory(
    176,
    "Invoices are numbered per country and year, for example PT-2026-00042.",
    ["billing"],
    0.8,
    "claude-code",
  ),
  memory(171, "The staging database is reset every Sunday night.", ["operations"], 0.4, "codex"),
  memory(150, "Sam is allergic to peanuts and shellfish.", ["health", "food"], 1, "claude-desktop"),
  memory(
    149,
    "Vegetarian dishes with chickpeas are a favourite in Sam's family.",
    ["food"],
    0.5,
    "claude-desktop",
  ),
  memory(
    131,
    "Tests that need the network are marked with the tag slow and run only at night.",
    ["testing"],
    0.5,
    "codex",
  ),
  memory(
    120,
    "Deployments go out on Tuesdays and Thursdays before noon; never on Fridays.",
    ["operations", "deployment"],
    0.8,
    "claude-code",
  ),
  memory(
    118,
    "A deployment is undone by moving the tag stable back by one release.",
    ["operations", "deployment"],
    0.9,
    "claude-code",
  ),
  memory(
    96,
    "The flight to Oslo on 12 March leaves at 7:10 from terminal 1.",
    ["travel"],
    0.2,
    "claude-desktop",
  ),
  memory(
    95,
    "The hotel in Oslo is near the central station and keeps the luggage.",
    ["travel"],
    0.1,
    "claude-desktop",
  ),
  memory(
    80,
    "Error messages for customers are written in the present tense, without blame.",
    ["writing"],
    0.6,
    "cursor",
  ),
  memory(
    74,
    "The design colours are in tokens.css; no colour is written anywhere else.",
    ["design", "architecture"],
    0.7,
    "cursor",
  ),
  memory(
    60,
    "Sam's daughter Mia plays the cello; her next concert is in June.",
    ["family"],
    0.7,
    "claude-desktop",
  ),
  memory(
    52,
    "The export of invoices timed out above 10,000 rows because of a missing index on customer_id.",
    ["billing", "bugs"],
    0.6,
    "codex",
  ),
  memory(
    51,
    "The index on customer_id was added in migration 0147 and the export takes two seconds now.",
    ["billing", "bugs"],
    0.6,
    "codex",
  ),
  memory(
    33,
    "Pull requests need one review, and two when they touch services/billing.",
    ["process"],
    0.8,
    "claude-code",
  ),
  memory(
    21,
    "The new search page is behind the switch search-v2 until the end of the month.",
    ["search"],
    0.3,
    "cursor",
  ),
  memory(
    14,
    "Sam reads release notes on Monday mornings and likes them grouped by team.",
    ["preferences", "writing"],
    0.5,
    "claude-desktop",
  ),
  memory(
    9,
    "The load test showed 340 requests a second with 4 workers, limited by the database.",
    ["performance"],
    0.5,
    "codex",
  ),
  memory(
    5,
    "Webhooks are retried five times in an hour, then they are kept for a day.",
    ["billing", "architecture"],
    0.7,
    "claude-code",
  ),
  memory(
    2,
    "The team meets on Thursdays at 15:00 to plan the next two weeks.",
    ["process", "time"],
    0.4,
    "claude-desktop",
  ),
  memory(
    1,
    "The sign-in page will support passkeys; work begins in the first week of the next quarter.",
    ["search", "design"],
    0.6,
    "cursor",
  ),
];

/** Saves the samples with their times. */
export async function saveSamples(
  save: (memory: NewMemory) => Promise<unknown>,
  clock: { advance(milliseconds: number): void },
): Promise<void> {
  let last = SAMPLES[0]?.days ?? 0;
  for (const { days, memory } of SAMPLES) {
    clock.advance((last - days) * DAY);
    last = days;
    await save(memory);
  }
  clock.advance(last * DAY);
}

const WHO = [
  { source: { id: "local", by: "local" }, agent: "claude-code" },
  { source: { id: "local", by: "local" }, agent: "codex" },
  { source: { id: "key_1", by: "billing scripts" }, agent: null },
];
const KINDS = ["saved", "searched", "searched", "recalled", "captured"] as const;
const ASKED = ["how do we deploy?", "what must Sam not eat?", "when is the retro?"];

/** Records a month of activity. The clock begins a month in the past. */
export async function recordSamples(
  activity: Pick<Activity, "record" | "flush">,
  clock: { advance(milliseconds: number): void },
  { accountId, ids }: { accountId: string; ids: readonly string[] },
): Promise<void> {
  const { below, pick } = createRandom(7);
  const one = (): Action => {
    const kind = pick(KINDS) ?? "saved";
    const isAsking = kind === "searched" || kind === "recalled";
    const memories = isAsking ? below(6) : 1;
    const memoryId = memories > 0 ? (pick(ids) ?? null) : null;
    const query = kind === "searched" ? (pick(ASKED) ?? null) : null;
    const who = WHO[Math.min(below(3), below(3))] ?? { source: { id: "a", by: "" }, agent: null };
    return { accountId, kind, memories, memoryId, query, ...who };
  };
  for (let day = 30; day >= 0; day--) {
    const actions = day % 7 < 2 ? below(4) : 4 + below(14);
    for (let number = 0; number < actions; number++) activity.record(one());
    await activity.flush();
    if (day > 0) clock.advance(DAY);
  }
}
