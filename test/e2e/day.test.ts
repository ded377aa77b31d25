import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectSound, openBrowser } from "../support/browser.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { connectProgram, shownIn } from "../support/mcp.ts";
import { serving } from "../support/server-process.ts";
import { claudeCodeLines, writeTranscript } from "../support/transcripts.ts";
import { until } from "../support/until.ts";

const EMAIL = "sam@example.com";
const PASSWORD = "a long walk on the beach";

/** A machine with two repositories and Claude Code, connected to one server. */
async function machine() {
  const home = temporaryFolder();
  const dataDir = join(home, "data");
  mkdirSync(join(home, ".claude"));
  const env = { HOME: home, CTXD_CACHE_DIR: testCacheDir };
  const repository = (name: string) => {
    const folder = join(home, name);
    mkdirSync(join(folder, ".git"), { recursive: true });
    writeFileSync(join(folder, ".git", "HEAD"), "ref: refs/heads/main\n");
    writeFileSync(
      join(folder, ".git", "config"),
      `[remote "origin"]\n\turl = git@github.com:acme/${name}.git\n`,
    );
    return folder;
  };
  const run = async (args: string[], input = "") => {
    const outcome = await ctxd(args, { dataDir, env, input });
    expect(outcome).toMatchObject({ exitCode: 0 });
    return outcome.stdout;
  };
  return { home, dataDir, env, repository, run };
}

test("one day: an agent connects and saves, and the next agent recalls what matters", async () => {
  const { home, dataDir, env, repository, run } = await machine();
  await run(["user", "add", EMAIL], `${PASSWORD}\n`);
  await using server = await serving(dataDir, { HOME: home });
  const [atlas, boreas] = [repository("atlas"), repository("boreas")];

  // Morning: one connection for all projects.
  await run(["connect", "claude-code", "--capture", "--recall", "--allow", "--yes"]);
  const settings = JSON.parse(readFileSync(join(home, ".claude", "settings.json"), "utf8"));
  expect(settings.permissions.allow).toEqual(["mcp__ctxd"]);
  /** Runs the hook of an event, as Claude Code does. Returns the text that is added to the conversation. */
  const hook = async (event: string, input: Record<string, unknown>) => {
    const command: string = settings.hooks[event].at(-1).hooks[0].command;
    const child = Bun.spawn(["sh", "-c", command], {
      cwd: String(input.cwd),
      env: { ...env, PATH: process.env.PATH ?? "" },
      stdin: new Blob([JSON.stringify({ ...input, hook_event_name: event })]),
      stdout: "pipe",
      stderr: "pipe",
    });
    expect(await child.exited).toBe(0);
    expect(await child.stderr.text()).toBe("");
    const said = await child.stdout.text();
    return said === "" ? "" : String(JSON.parse(said).hookSpecificOutput.additionalContext);
  };
  const begin = (session_id: string, cwd: string) =>
    hook("SessionStart", { session_id, cwd, transcript_path: null, source: "startup" });
  const ask = (session_id: string, cwd: string, prompt: string) =>
    hook("UserPromptSubmit", { session_id, cwd, transcript_path: null, prompt });
  expect(await begin("s-1", atlas)).toBe("");

  // The agent saves a fact in one project. A hook captures the rest of the conversation.
  const { command, args } = JSON.parse(readFileSync(join(home, ".claude.json"), "utf8")).mcpServers
    .ctxd;
  await using agent = await connectProgram("v1", { command, args, env, cwd: atlas });
  await agent.call("save_memory", { content: "Atlas is deployed on Fridays at noon." });
  const said = [{ user: "Our staging server is called heron.", assistant: "I'll remember heron." }];
  const lines = claudeCodeLines("s-1", atlas, said);
  const transcript_path = writeTranscript(join(home, ".claude", "projects", "s-1.jsonl"), lines);
  expect(await hook("Stop", { session_id: "s-1", cwd: atlas, transcript_path })).toBe("");
  await until("the talk", async () =>
    (await run(["search", "staging server", "--project", "acme/atlas"])).includes("heron"),
  );

  // A new session in that project recalls the fact. A session in another project does not.
  const told = await begin("s-2", atlas);
  expect(told).toContain("deployed on Fridays");
  expect(told).toContain("heron");
  expect(await begin("s-3", boreas)).toBe("");
  expect(await ask("s-3", boreas, "What is our staging server called?")).toBe("");

  // The fact changes. The old version stays in the history.
  const [old] = shownIn(await agent.call("search_memories", { query: "When is Atlas deployed?" }));
  const changed = "Atlas is deployed on Tuesdays at noon.";
  await agent.call("save_memory", { content: changed, supersedes: old?.id });
  const now = await ask("s-4", atlas, "When is Atlas deployed?");
  expect(now).toContain("on Tuesdays");
  expect(now).not.toContain("on Fridays");

  // The dashboard shows everything.
  const browser = await openBrowser();
  try {
    await browser.visit({ origin: server.origin }, async (page) => {
      await page.goto(`${server.origin}/memories?project=acme%2Fatlas`);
      await page.getByLabel("E-mail").fill(EMAIL);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.getByRole("button", { name: "Sign in" }).click();
      await page.getByText(changed).first().waitFor();
      await page.getByText("Our staging server is called heron.").first().waitFor();
      await expectSound(page);
      await page.goto(`${server.origin}/memories?project=acme%2Fboreas`);
      await page.getByRole("heading", { name: "Memories" }).first().waitFor();
      expect(await page.getByText("heron").count()).toBe(0);
    });
  } finally {
    await browser.close();
  }

  // Evening: an export of everything, then the captured conversation is deleted.
  const file = join(home, "memories.jsonl");
  await run(["export", file]);
  const exported = readFileSync(file, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  const ways = exported.map(({ source, project }) => `${source.via} ${project}`);
  expect(ways.toSorted()).toEqual([
    ...Array(2).fill("capture acme/atlas"),
    ...Array(2).fill("mcp acme/atlas"),
  ]);
  await run(["forget", "--captured", "--session", "s-1", "--yes"]);
  // The hook does not capture the same conversation again.
  expect(await hook("SessionEnd", { session_id: "s-1", cwd: atlas, transcript_path })).toBe("");
  const last = await begin("s-5", atlas);
  expect(last).toContain("on Tuesdays");
  expect(last).not.toContain("heron");
});
