import { expect, test } from "bun:test";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { uploadedFile } from "../../../src/import/files/input-file.ts";
import { openAgent } from "../../../src/import/open-sources.ts";
import { readFiles } from "../../../src/import/read-files.ts";
import { temporaryFolder } from "../../support/database.ts";
import { readContent, readReading } from "../../support/import.ts";
import { outcomeOf } from "../../support/outcome.ts";
import {
  claudeCodeLines,
  codexLines,
  FOLDER,
  geminiLines,
  SAID,
  toLines,
  writeTranscript,
} from "../../support/transcripts.ts";
import { zip } from "../../support/zip.ts";

const CONTENTS = SAID.flatMap(({ user, assistant }) => [
  `User: ${user}`,
  `Assistant: ${assistant}`,
]);

const AGENTS: [string, string, (session: string) => Record<string, unknown>[]][] = [
  [
    "claude-code",
    ".claude/projects/-home-sam-atlas/s-1.jsonl",
    (id) => claudeCodeLines(id, FOLDER, SAID),
  ],
  ["codex", ".codex/sessions/2026/01/02/rollout-s-1.jsonl", (id) => codexLines(id, FOLDER, SAID)],
  ["gemini", ".gemini/tmp/atlas/chats/session-s-1.jsonl", (id) => geminiLines(id, SAID)],
];

test.each(AGENTS)(
  "what %s has kept is found in its folder, and is the same when it is sent",
  async (agent, file, linesOf) => {
    const home = temporaryFolder();
    const path = writeTranscript(join(home, file), linesOf("s-1"));
    if (agent === "gemini") writeFileSync(join(path, "..", "..", ".project_root"), `${FOLDER}\n`);
    const projectOf = async (folder: string) => (folder === FOLDER ? "acme/atlas" : null);
    const read = await readReading(await openAgent(agent, { env: { HOME: home }, projectOf }));
    expect(read.memories.map(({ content }) => content)).toEqual(CONTENTS);
    for (const memory of read.memories) {
      expect(memory).toMatchObject({ agent_id: agent, session_id: "s-1", project: "acme/atlas" });
    }
    const times = read.memories.map(({ created_at }) => Date.parse(created_at ?? ""));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    const sent = await readContent(zip([{ name: "s-1.jsonl", content: toLines(linesOf("s-1")) }]));
    expect(sent.memories.map(({ id }) => id)).toEqual(read.memories.map(({ id }) => id));
  },
);

test("a turn after a line that is too long is the same when it is sent", async () => {
  const home = temporaryFolder();
  const [meta = {}, ...lines] = codexLines("s-1", FOLDER, SAID);
  const path = writeTranscript(join(home, ".codex/sessions/2026/01/02/rollout-s-1.jsonl"), [
    meta,
    { type: "response_item", payload: { type: "output", text: "x".repeat(17 << 20) } },
    ...lines,
  ]);
  const read = await readReading(await openAgent("codex", { env: { HOME: home } }));
  expect(read.memories.map(({ content }) => content)).toEqual(CONTENTS);
  const upload = uploadedFile(new File([readFileSync(path)], "s-1.jsonl"), "");
  const sent = await readReading(readFiles([upload]));
  expect(sent.memories.map(({ id }) => id)).toEqual(read.memories.map(({ id }) => id));
  expect(sent.leftOut).toEqual(read.leftOut);
});

test("thousands of transcripts leave no file open, and damaged lines are counted", async () => {
  const home = temporaryFolder();
  // So much that it is not read to its end to find out what it is.
  const progress = `${JSON.stringify({ type: "progress", data: "x".repeat(300_000) })}\n`;
  for (let n = 0; n < 60; n++) {
    const path = join(home, ".claude/projects/atlas", `s-${n}.jsonl`);
    writeTranscript(path, claudeCodeLines(`s-${n}`, FOLDER, SAID));
    appendFileSync(path, progress);
    if (n === 0) appendFileSync(path, "{broken\n");
  }
  const before = readdirSync("/proc/self/fd").length;
  const read = await readReading(await openAgent("claude-code", { env: { HOME: home } }));
  expect(read.memories).toHaveLength(240);
  expect(read.name).toBe("a transcript of Claude Code (60 files)");
  expect(read.leftOut).toEqual(["damaged lines of transcripts: 1"]);
  expect(readdirSync("/proc/self/fd").length).toBeLessThan(before + 20);
});

test("an agent without transcripts is reported", async () => {
  const env = { HOME: temporaryFolder() };
  expect(await outcomeOf(openAgent("codex", { env }))).toThrow(/codex/);
});
