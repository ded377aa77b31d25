import { expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createProgressFiles } from "../../src/capture/progress.ts";
import type { CaptureRequest } from "../../src/capture/requests.ts";
import { sendUnsent } from "../../src/capture/send-unsent.ts";
import { keepUnsent, ServerAway, UNSENT_LIMITS, unsentIn } from "../../src/capture/unsent.ts";
import { temporaryFolder } from "../support/database.ts";
import { outcomeOf } from "../support/outcome.ts";
import { claudeCodeLines, toLines, writeTranscript } from "../support/transcripts.ts";

const AGENT = "claude-code";
const turn = (content: string, more: object = {}) => ({ role: "user" as const, content, ...more });

/** What waits in a new folder, and a server that takes it. */
function open() {
  const home = temporaryFolder();
  const folder = join(home, "unsent");
  const sent: CaptureRequest[] = [];
  const state = { answers: Number.POSITIVE_INFINITY };
  return {
    home,
    folder,
    sent,
    state,
    keep: (entry: Omit<CaptureRequest, "agent">, now?: number) =>
      keepUnsent(folder, { agent: AGENT, ...entry }, now),
    send: () =>
      sendUnsent({
        folder,
        progress: createProgressFiles(join(home, "captured")),
        projectOf: async (path) => (path.startsWith("/home/sam/") ? path.slice(10) : null),
        send: async (body) => {
          if (state.answers-- <= 0) throw new ServerAway("it is away");
          sent.push(body);
        },
      }),
    contents: () => sent.flatMap(({ turns = [] }) => turns.map(({ content }) => content)),
  };
}

const SAID = [
  { user: "one", assistant: "two" },
  { user: "three", assistant: "four" },
];
const ALL = ["one", "two", "three", "four"];

test("entries are sent in order, with the time at which they were kept, and are gone then", async () => {
  const { keep, send, sent, contents, folder } = open();
  const now = Date.UTC(2026, 10, 20, 9);
  for (const [index, content] of ALL.entries()) {
    await keep({ session_id: "s", folder: "/home/sam/atlas", turns: [turn(content)] }, now + index);
  }
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  for (const name of unsentIn(folder))
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(await send()).toEqual(new Set());
  expect(contents()).toEqual(ALL);
  expect(sent[3]).toEqual({
    agent: AGENT,
    session_id: "s",
    project: "atlas",
    turns: [turn("four", { id: expect.any(String), at: "2026-11-20T09:00:00.003Z" })],
  });
  expect(readdirSync(folder)).toEqual([]);
});

test("a transcript is kept as its path, once, and its new turns are sent once, with their ids", async () => {
  const { home, keep, send, sent, contents, folder } = open();
  const lines = claudeCodeLines("s-1", "/home/sam/atlas", SAID);
  const path = writeTranscript(join(home, "s-1.jsonl"), lines.slice(0, lines.length / 2));
  for (let n = 0; n < 3; n++) await keep({ transcript: path });
  expect(unsentIn(folder)).toHaveLength(1);
  expect(readFileSync(join(folder, `${unsentIn(folder)}`), "utf8")).not.toContain("one");
  await send();
  appendFileSync(path, toLines(lines.slice(lines.length / 2)));
  await keep({ transcript: path });
  await send();
  await send();
  expect(contents()).toEqual(ALL);
  expect(sent.map(({ project, session_id }) => [project, session_id])).toEqual([
    ["atlas", "s-1"],
    ["atlas", "s-1"],
  ]);
  const times = sent.flatMap(({ turns = [] }) => turns.map(({ at = "" }) => at));
  expect(times.toSorted()).toEqual(times);
  expect(new Set(sent.flatMap(({ turns = [] }) => turns.map(({ id }) => id))).size).toBe(4);
});

test("what a server that goes away has not answered is sent again, and nothing is skipped", async () => {
  const { home, keep, send, sent, state, contents } = open();
  const said = Array.from({ length: 50 }, (_, n) => ({ user: `ask ${n}`, assistant: `say ${n}` }));
  await keep({
    transcript: writeTranscript(join(home, "s.jsonl"), claudeCodeLines("s", "/", said)),
  });
  await keep({ turns: [turn("first")] });
  state.answers = 3;
  expect(await outcomeOf(send())).toThrow(ServerAway);
  const before = contents().length;
  expect(before).toBeLessThan(101);
  state.answers = 0;
  expect(await outcomeOf(send())).toThrow(ServerAway);
  expect(contents()).toHaveLength(before);
  state.answers = Number.POSITIVE_INFINITY;
  await send();
  const all = said.flatMap(({ user, assistant }) => [user, assistant]);
  expect(contents()).toEqual(["first", ...all]);
  for (const { turns = [] } of sent) expect(turns.length).toBeLessThanOrEqual(32);
});

test("turns of another folder or session go to another request, and no request is too long", async () => {
  const { home, keep, send, sent } = open();
  const lines = [
    ...claudeCodeLines("s-1", "/home/sam/atlas", SAID),
    ...claudeCodeLines("s-2", "/home/sam/boreas", SAID),
    ...claudeCodeLines("s-3", "/elsewhere", [{ user: "x".repeat(2 << 20), assistant: " " }]),
  ];
  await keep({ transcript: writeTranscript(join(home, "s.jsonl"), lines) });
  await keep({
    project: "named",
    kept_days: null,
    turns: [turn("y".repeat(900_000)), turn("z".repeat(900_000))],
  });
  await send();
  expect(
    sent.map(({ project, session_id, kept_days, turns = [] }) => [
      project,
      session_id,
      kept_days,
      turns.map(({ content }) => content.length),
    ]),
  ).toEqual([
    ["named", undefined, null, [900_000]],
    ["named", undefined, null, [900_000]],
    ["atlas", "s-1", undefined, [3, 3, 5, 4]],
    ["boreas", "s-2", undefined, [3, 3, 5, 4]],
    [null, "s-3", undefined, [1 << 20]],
  ]);
});

test("damaged entries and vanished transcripts are dropped; one that can't be read stays", async () => {
  const { home, keep, send, contents, folder } = open();
  const lines = claudeCodeLines("s", "/", SAID);
  const locked = writeTranscript(join(home, "locked", "s.jsonl"), lines);
  // Root can read everything, but no file below a file.
  rmSync(join(home, "locked"), { recursive: true });
  writeFileSync(join(home, "locked"), "");
  await keep({ transcript: join(home, "none.jsonl") });
  await keep({ transcript: locked });
  writeFileSync(join(folder, "0-half.json"), '{"agent": "claude-code", "turns": [');
  writeFileSync(join(folder, "1-other.json"), '{"agent": 7, "turns": "x"}');
  await keep({ turns: [turn("good")] });
  expect((await send()).size).toBe(1);
  expect(contents()).toEqual(["good"]);
  expect(unsentIn(folder)).toHaveLength(1);
  rmSync(join(home, "locked"));
  writeTranscript(locked, lines);
  await send();
  expect(contents()).toEqual(["good", ...ALL]);
});

test("a folder that is full or old loses its oldest entries, never the newest", async () => {
  const { keep, folder } = open();
  const age = (name: string, days: number) => {
    const seconds = Date.now() / 1_000 - days * 86_400;
    utimesSync(join(folder, name), seconds, seconds);
  };
  const texts = () => unsentIn(folder).map((name) => readFileSync(join(folder, name), "utf8"));
  const addAged = async (content: string, days: number) => {
    const before = new Set(unsentIn(folder));
    await keep({ turns: [turn(content)] });
    for (const name of unsentIn(folder).filter((each) => !before.has(each))) age(name, days);
  };
  await addAged("too old", UNSENT_LIMITS.days + 1);
  await addAged("large and old", 3);
  await addAged("x".repeat(UNSENT_LIMITS.bytes / 2), 2);
  expect(texts()).toHaveLength(2);
  expect(texts().join()).not.toContain("too old");
  await keep({ turns: [turn("y".repeat(UNSENT_LIMITS.bytes / 2))] });
  expect(texts().map((text) => text.includes("yyy"))).toEqual([true]);

  rmSync(folder, { recursive: true });
  await keep({ turns: [turn("first")] }, 0);
  const [first = ""] = unsentIn(folder);
  const copies = Array.from({ length: UNSENT_LIMITS.entries - 1 }, (_, n) => `${1_000 + n}.json`);
  for (const name of copies) writeFileSync(join(folder, name), "{}");
  age(first, 1);
  await keep({ turns: [turn("one more")] });
  expect(unsentIn(folder)).toHaveLength(UNSENT_LIMITS.entries);
  expect(texts().join()).toContain("one more");
  expect(unsentIn(folder)).not.toContain(first);
});

test.skipIf(process.getuid?.() === 0)(
  "a folder that can't be written fails, and says so",
  async () => {
    const { home, keep } = open();
    chmodSync(home, 0o500);
    expect(await outcomeOf(keep({ turns: [turn("x")] }))).toThrow("EACCES");
  },
);
