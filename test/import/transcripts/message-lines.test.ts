import { expect, test } from "bun:test";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { findKimiTranscript } from "../../../src/import/transcripts/folders.ts";
import { openTranscript } from "../../../src/import/transcripts/read-transcript.ts";
import { temporaryFolder } from "../../support/database.ts";
import { readContent } from "../../support/import.ts";

/** Transcripts that the real programs wrote, with long texts cut. */
const recorded = (agent: string) =>
  join(import.meta.dir, "..", "..", "fixtures", "transcripts", `${agent}.jsonl`);

async function readTurns(path: string) {
  const reading = await openTranscript(path);
  return { agent: reading?.format.agent, turns: await Array.fromAsync(reading?.turns ?? []) };
}

const SESSIONS: Record<string, string | null> = {
  qwen: "c7806228-d104-45a1-971e-f3a3b4cb40b1",
  droid: "40eb0124-4656-40f3-b375-d384f26ec618",
  "copilot-cli": "91729903-0470-47e2-93b1-0274361dca47",
  // Its hook names them.
  kimi: null,
};

test.each(Object.entries(SESSIONS))(
  "of what %s wrote, the words of the person and of the agent are turns, and nothing else",
  async (agent, session) => {
    const read = await readTurns(recorded(agent));
    expect(read.agent).toBe(agent);
    expect(read.turns.map(({ role }) => role)).toEqual(["user", "assistant"]);
    const [asked, answered] = read.turns;
    expect(asked?.text).toMatch(/^REMEMBER: Our \w+ is [\w ]+\.$/);
    expect(answered?.text).toMatch(/^SAVED [\s\S]*mem_[0-9a-f]{32}/);
    for (const turn of read.turns) {
      const folder = session === null ? null : "/home/sam/atlas";
      expect(turn).toMatchObject({ session, folder });
      expect(Date.parse(turn.at ?? "")).toBeGreaterThan(Date.UTC(2026, 10, 25));
    }
    expect(await readTurns(recorded(agent))).toEqual(read);
    const { memories } = await readContent(readFileSync(recorded(agent), "utf8"), `${agent}.jsonl`);
    expect(memories.map(({ agent_id }) => agent_id)).toEqual([agent, agent]);
  },
);

test("a capture that begins where the last one ended has what is new alone", async () => {
  const path = join(temporaryFolder(), "droid.jsonl");
  copyFileSync(recorded("droid"), path);
  const reading = await openTranscript(path);
  await Array.fromAsync(reading?.turns ?? []);
  const more = { type: "message", id: "m-9", timestamp: "2026-11-26T08:00:00.000Z" };
  const message = { role: "user", content: [{ type: "text", text: "And the lake?" }] };
  writeFileSync(path, `${JSON.stringify({ ...more, message })}\n`, { flag: "a" });
  const next = await openTranscript(path, reading?.position());
  const turns = await Array.fromAsync(next?.turns ?? []);
  expect(turns).toMatchObject([{ text: "And the lake?", session: SESSIONS.droid, key: "m-9" }]);
});

test("what hooks and programs add to the person's words is no part of them", async () => {
  const path = join(temporaryFolder(), "qwen.jsonl");
  const line = (text: string, more: object = {}) =>
    `${JSON.stringify({
      ...{ uuid: text, parentUuid: null, sessionId: "s", type: "user", provenance: "real_user" },
      ...more,
      message: { role: "user", parts: [{ text }, { text: "a thought", thought: true }] },
    })}\n`;
  writeFileSync(
    path,
    line("Who?\n<qwen:user-prompt-submit-context>\nrecalled\n</qwen:user-prompt-submit-context>") +
      line("<system-reminder>be brief</system-reminder>") +
      line("from a hook", { provenance: "system" }),
  );
  expect((await readTurns(path)).turns.map(({ text }) => text)).toEqual(["Who?"]);
});

test("the transcript of a session of Kimi Code is found where it keeps it", async () => {
  const home = temporaryFolder();
  const path = join(home, "k/sessions/wd_atlas_1/session_1/agents/main/wire.jsonl");
  mkdirSync(dirname(path), { recursive: true });
  copyFileSync(recorded("kimi"), path);
  const find = (session: string, env = {}) => findKimiTranscript(session, { env, home });
  expect(await find("session_1", { KIMI_CODE_HOME: join(home, "k") })).toBe(path);
  expect(await find("session_2", { KIMI_CODE_HOME: join(home, "k") })).toBeNull();
  expect(await find("*", { KIMI_CODE_HOME: join(home, "k") })).toBeNull();
  expect(await find("session_1")).toBeNull();
});
