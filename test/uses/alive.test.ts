import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/data-lock.ts";
import { program, stopServer } from "../support/bridge.ts";
import { ctxd } from "../support/command-line.ts";
import { connectProgram } from "../support/mcp.ts";
import { temporaryHome } from "../support/temporary-home.ts";
import { claudeCodeLines, toLines } from "../support/transcripts.ts";
import { until } from "../support/until.ts";

const { home, dataDir } = temporaryHome();
const { env, command } = program(dataDir);

async function stateOf(agent: string) {
  const { stdout } = await ctxd(["status", "--json"], { dataDir, env });
  const { activity } = JSON.parse(stdout) as { activity: { agent: string }[] };
  return activity.find((each) => each.agent === agent) ?? null;
}

test("what an agent captures, recalls and finds is in the status, and its dead hooks are a warning", async () => {
  const { args } = program(dataDir, "mcp", "--agent", "claude-code");
  await using agent = await connectProgram("v1", { command, args, env, cwd: home });
  const path = join(home, "transcript.jsonl");
  const said = [{ user: "We call the staging server heron.", assistant: "Noted, heron." }];
  writeFileSync(path, toLines(claudeCodeLines("s1", home, said)));
  const hook = (word: string, event: object) => {
    const input = JSON.stringify({ session_id: "s1", cwd: home, transcript_path: path, ...event });
    return ctxd([word, "--agent", "claude-code"], { dataDir, env, input });
  };
  await hook("capture", { hook_event_name: "Stop" });
  await hook("recall", { session_id: "s2", hook_event_name: "SessionStart", source: "startup" });
  await until("the captured messages are found", async () => {
    const { text } = await agent.call("search_memories", { query: "staging server heron" });
    return text.includes("heron") || null;
  });
  using sqlite = new Database(databasePath(dataDir));
  const written = sqlite.query(
    "SELECT 1 FROM memory_uses WHERE EXISTS (SELECT 1 FROM activity_days WHERE kind = 'recalled')",
  );
  // The server writes both some seconds later.
  await until("the uses and the activity are written", () => written.get() !== null);
  const state = await stateOf("claude-code");
  expect(state).toMatchObject({
    ...{ machine: "this machine", brought: 2, warnings: [] },
    ...{ last_capture: expect.any(String), last_recall: expect.any(String) },
  });
  expect(Object(state).of_use).toBeGreaterThan(0);

  await stopServer(dataDir);
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  sqlite.query("UPDATE activity_days SET day = ? WHERE kind = 'captured'").run(day(40));
  sqlite
    .query(
      `INSERT INTO activity_days SELECT account_id, ?, 'searched', source_id, agent, source, 1, 0, 1, last_at
       FROM activity_days WHERE kind = 'captured'`,
    )
    .run(day(1));
  expect(await stateOf("claude-code")).toMatchObject({
    warnings: [`was active on 2 days and captured nothing since ${day(40)}`],
  });
});
