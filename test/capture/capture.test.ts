import { afterAll, expect, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createCapture } from "../../src/capture/capture.ts";
import { createProgressFiles } from "../../src/capture/progress.ts";
import type { Conversation } from "../../src/capture/requests.ts";
import { createCaptureRoutes } from "../../src/capture/routes.ts";
import { FULL_ACCESS } from "../../src/keys/scopes.ts";
import { createClient } from "../support/client.ts";
import { temporaryFolder } from "../support/database.ts";
import { silentLog } from "../support/embedder.ts";
import { startServer } from "../support/server.ts";
import { claudeCodeLines, toLines, writeTranscript } from "../support/transcripts.ts";
import { until } from "../support/until.ts";

const server = await startServer();
afterAll(server.close);

const DAY = 86_400_000;
const SAID = [
  { user: "Which database do we use?", assistant: "PostgreSQL, since March." },
  { user: "And who looks after it?", assistant: "Mira does." },
];
const ALL = [
  "User: Which database do we use?",
  "Assistant: PostgreSQL, since March.",
  "User: And who looks after it?",
  "Assistant: Mira does.",
];

/** An account, and what captures for it as on its own machine. */
async function open(folder = temporaryFolder()) {
  const client = await server.account();
  const { accountId } = client;
  const principal = {
    ...{ accountId, bound: null, scopes: FULL_ACCESS, via: "local" as const },
    credential: { by: "local", id: "local" },
  };
  const capture = createCapture({
    memories: server.memories,
    progress: createProgressFiles(join(folder, "captured")),
    projectOf: async (path) => (path.startsWith("/home/sam/") ? path.slice(10) : null),
    clock: server.clock,
  });
  const conversation: Conversation = { agent: "claude-code", session_id: "s-1" };
  const writer = { principal, stillAllowed: async () => {} };
  return {
    client,
    capture,
    principal,
    read: (path: string, more: Partial<Conversation> = {}) =>
      capture.transcript(writer, { ...conversation, ...more }, path),
    /** What is kept, the oldest first. */
    kept: async () => (await client.list({ limit: 100 })).memories.toReversed(),
  };
}
const contentsOf = (memories: readonly { content: string }[]) =>
  memories.map(({ content }) => content);

test("turns of a transcript are saved with their project, session, time and source", async () => {
  const { read, kept } = await open();
  const lines = claudeCodeLines("s-1", "/home/sam/atlas", SAID);
  const path = writeTranscript(join(temporaryFolder(), "s-1.jsonl"), lines);
  expect(await read(path)).toBe(4);
  const memories = await kept();
  expect(contentsOf(memories)).toEqual(ALL);
  for (const memory of memories) {
    expect(memory).toMatchObject({
      agent_id: "claude-code",
      session_id: "s-1",
      project: "atlas",
      source: { via: "capture", by: "local", id: "local" },
    });
    const expires = Date.parse(memory.expires_at ?? "");
    expect(expires - server.clock()).toBeWithin(90 * DAY, 91 * DAY);
  }
  expect(new Set(memories.map(({ expires_at }) => expires_at)).size).toBe(1);
  expect(memories.map(({ created_at }) => created_at.slice(0, 10))).toEqual(
    Array(4).fill("2026-11-20"),
  );
});

test("only new turns of a transcript are captured, and deleted ones are not captured again", async () => {
  const folder = temporaryFolder();
  const { read, kept, client } = await open(folder);
  const [first, second] = [SAID.slice(0, 1), SAID];
  const path = join(temporaryFolder(), "s-1.jsonl");
  const lines = toLines(claudeCodeLines("s-1", "/home/sam/atlas", second));
  const until = toLines(claudeCodeLines("s-1", "/home/sam/atlas", first)).length;
  writeFileSync(path, lines.slice(0, until));
  expect(await read(path)).toBe(2);
  const [asked] = await kept();
  await client.remove(asked?.id ?? "");
  appendFileSync(path, lines.slice(until));
  expect(await read(path)).toBe(2);
  expect(await read(path)).toBe(0);
  expect(contentsOf(await kept())).toEqual(ALL.slice(1));
});

test("concurrent hooks save each turn once", async () => {
  const { read, kept } = await open();
  const lines = claudeCodeLines("s-1", "/home/sam/atlas", SAID);
  const path = writeTranscript(join(temporaryFolder(), "s-1.jsonl"), lines);
  const counts = await Promise.all([read(path), read(path), read(path)]);
  expect(counts.toSorted()).toEqual([0, 0, 4]);
  expect(contentsOf(await kept())).toEqual(ALL);
});

test("a copy of a transcript in another file adds no memories", async () => {
  const { read, kept } = await open();
  const lines = claudeCodeLines("s-1", "/home/sam/atlas", SAID);
  expect(await read(writeTranscript(join(temporaryFolder(), "a.jsonl"), lines))).toBe(4);
  expect(await read(writeTranscript(join(temporaryFolder(), "b.jsonl"), lines))).toBe(0);
  expect(await kept()).toHaveLength(4);
});

test("turns with equal timestamps keep their order, and so do the parts of a long turn", async () => {
  const { read, kept } = await open();
  const long = Array.from({ length: 9_000 }, (_, number) => `word${number}`).join(" ");
  const said = [
    { user: "one", assistant: long },
    { user: "two", assistant: "three" },
  ];
  const lines = claudeCodeLines("s-1", "/home/sam/atlas", said).map((line) => ({
    ...line,
    timestamp: "2026-11-20T09:00:00.000Z",
  }));
  await read(writeTranscript(join(temporaryFolder(), "s-1.jsonl"), lines));
  const contents = contentsOf(await kept());
  expect(contents.map((text) => text.slice(0, 16))).toEqual([
    "User: one",
    "Assistant: word0",
    ...contents.slice(2, -2).map((text) => text.slice(0, 16)),
    "User: two",
    "Assistant: three",
  ]);
  expect(contents.slice(1, -2).join(" ")).toBe(`Assistant: ${long}`);
});

test("secrets in captured turns are masked", async () => {
  const { read, kept } = await open();
  const token = `ghp_${"a1B2c3D4e5F6".repeat(3)}`;
  const said = [{ user: `Use the token ${token} to push.`, assistant: "Pushed." }];
  const lines = claudeCodeLines("s-1", "/home/sam/atlas", said);
  await read(writeTranscript(join(temporaryFolder(), "s-1.jsonl"), lines));
  const [asked] = await kept();
  expect(asked?.content).toMatch(/^User: Use the token \[masked: .*\] to push\.$/);
});

test("the project is the folder's unless one is given, and the days to keep can be given", async () => {
  const { read, kept } = await open();
  const write = (session: string, folder: string) =>
    writeTranscript(
      join(temporaryFolder(), `${session}.jsonl`),
      claudeCodeLines(session, folder, SAID.slice(0, 1)),
    );
  await read(write("s-1", "/home/sam/atlas"));
  await read(write("s-2", "/tmp"));
  await read(write("s-3", "/tmp"), { project: "boreas", kept_days: null });
  const projects = (await kept()).map(({ session_id, project, expires_at }) =>
    [session_id, project, expires_at === null].join(),
  );
  expect([...new Set(projects)].sort()).toEqual([
    "s-1,atlas,false",
    "s-2,,false",
    "s-3,boreas,true",
  ]);
});

test("clients send turns over HTTP, but may not name files or folders of the server", async () => {
  const client = await server.account();
  const turns = [
    { role: "user", content: "Call me Sam.", id: "t-1" },
    { role: "assistant", content: "I will, Sam." },
  ];
  const capture = (json: unknown) => client.send("POST", "/memories/capture", { json });
  const asked = { agent: "cursor", session_id: "s-7", project: "atlas", turns };
  expect((await capture(asked)).body).toEqual({ captured: 2 });
  expect((await capture(asked)).body).toEqual({ captured: 0 });
  const { memories } = await client.list({ captured: "true", session_id: "s-7" });
  expect(contentsOf(memories)).toEqual(["Assistant: I will, Sam.", "User: Call me Sam."]);
  expect(memories[0]).toMatchObject({ project: "atlas", source: { via: "capture" } });
  expect((await client.list({ captured: "false" })).memories).toEqual([]);

  for (const json of [
    { agent: "cursor", transcript: "/etc/passwd" },
    { ...asked, folder: "/etc" },
    { ...asked, transcript: "/etc/passwd" },
    { agent: "cursor" },
    { ...asked, turns: [{ role: "system", content: "x" }] },
  ]) {
    expect((await capture(json)).status).toBe(422);
  }
  expect((await client.send("DELETE", "/memories?session_id=s-7")).body).toEqual({ deleted: 2 });
});

test("what an agent writes after its hook has ended is captured as well", async () => {
  const { capture, principal, kept } = await open();
  const routes = createCaptureRoutes({
    ...{ capture, recall: { text: async () => "" }, log: silentLog },
    projectOf: async () => null,
    authorize: async () => principal,
  });
  const transcript = join(temporaryFolder(), "events.jsonl");
  const request = { method: "POST", headers: { "content-type": "application/json" } };
  const body = JSON.stringify({ agent: "copilot-cli", session_id: "s-1", transcript });
  const hook = new Request("http://localhost/memories/capture", { ...request, body });
  expect(await (await routes.handle(hook)).json()).toEqual({ captured: null });
  const all = [...SAID, { user: "Where does it run?", assistant: "On heron." }];
  for (const said of [all.slice(0, 1), SAID, all]) {
    writeTranscript(transcript, claudeCodeLines("s-1", "/home/sam/atlas", said));
    const isSaved = async () => (await kept()).length === 2 * said.length;
    await until("what was said is saved", isSaved);
  }
  const added = ["User: Where does it run?", "Assistant: On heron."];
  expect(contentsOf(await kept())).toEqual([...ALL, ...added]);
});

test("a key bound to a project captures only for it and recalls nothing of another", async () => {
  const { accountId, ...owner } = await server.account();
  await owner.save({ content: "Boreas is deployed by hand.", project: "boreas", pinned: true });
  await owner.save({ content: "Atlas is deployed at noon.", project: "atlas", pinned: true });
  const options = { name: "atlas", scopes: FULL_ACCESS, expiresAt: null };
  const bound = { project: "atlas", only: false };
  const { key } = await server.keys.create(accountId, { ...options, bound });
  const { send } = createClient(server.origin, key);
  const capture = (project?: string) => {
    const turns = [{ role: "user", content: `In ${project}.` }];
    const json = { agent: "codex", turns, ...(project && { project }) };
    return send("POST", "/memories/capture", { json });
  };
  expect((await capture("boreas")).status).toBe(403);
  expect((await capture()).body).toEqual({ captured: 1 });
  expect((await owner.list({ captured: "true" })).memories).toMatchObject([{ project: "atlas" }]);
  const json = { session_id: "s", project: "boreas" };
  const { body } = await send("POST", "/memories/recall", { json });
  expect(Object(body).text).toContain("Atlas");
  expect(Object(body).text).not.toContain("Boreas");
});
