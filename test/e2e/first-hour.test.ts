import { expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { openBrowser } from "../support/browser.ts";
import { ctxd } from "../support/command-line.ts";
import { press } from "../support/dashboard.ts";
import { temporaryFolder } from "../support/database.ts";
import { sharedEmbedder, testCacheDir } from "../support/embedder.ts";
import { connectHttp, connectProgram, type McpClient, shownIn } from "../support/mcp.ts";
import { SET_UP_LINK } from "../support/server.ts";

const FACT = "The staging server is called heron";
const QUESTION = "what is our staging machine named";
/** What a newcomer does, and reads on the way, may become less and not more. */
const MOST = {
  commands: { steps: 4, words: 164 },
  pages: { steps: 9, words: 863 },
} as const;

/** Counts what a newcomer does and reads. */
function createCount() {
  let [steps, words] = [0, 0];
  return {
    step: () => steps++,
    read(text: string) {
      words += text.split(/\s+/).filter(Boolean).length;
    },
    expectAtMost(most: { steps: number; words: number }) {
      expect(steps).toBe(most.steps);
      expect(words).toBeWithin(1, most.words + 1);
    },
  };
}

/** One agent is told a fact, and another one is asked. */
async function tellAndAsk(first: McpClient, second: McpClient, step: () => void) {
  step();
  expect((await first.call("save_memory", { content: FACT })).isError).toBe(false);
  step();
  const [found] = shownIn(await second.call("search_memories", { query: QUESTION }));
  expect(found?.content).toContain("heron");
}

test("from an empty folder to a fact that a second agent knows, by commands", async () => {
  const home = temporaryFolder();
  const [dataDir, folder] = [join(home, "data"), join(home, "shop")];
  for (const name of [".claude", ".cursor", "shop"]) mkdirSync(join(home, name));
  const env = { HOME: home, CTXD_CACHE_DIR: testCacheDir };
  const { step, read, expectAtMost } = createCount();
  const connect = async (name: string, file: string) => {
    step();
    const { exitCode, stdout, stderr } = await ctxd(["connect", name, "--yes"], { dataDir, env });
    expect(exitCode).toBe(0);
    read(stdout + stderr);
    const { command, args } = JSON.parse(readFileSync(join(home, file), "utf8")).mcpServers.ctxd;
    return await connectProgram("v1", { command, args, env, cwd: folder });
  };
  await using first = await connect("claude-code", ".claude.json");
  await using second = await connect("cursor", ".cursor/mcp.json");
  await tellAndAsk(first, second, step);
  expectAtMost(MOST.commands);
});

test("from the link of the start to a fact that a second agent knows, by pages", async () => {
  await using server = await startOAuthServer({ embedder: sharedEmbedder() });
  const { origin } = server;
  const browser = await openBrowser();
  const { step, read, expectAtMost } = createCount();
  await browser.visit({ origin }, async (page) => {
    const readPage = async () => read((await page.locator("main").textContent()) ?? "");
    step();
    await page.goto(`${origin}${SET_UP_LINK}`);
    await readPage();
    step();
    await page.getByLabel("E-mail address").fill("you@example.com");
    await page.getByLabel("Password").fill("correct horse battery");
    await press(page, "Create my account");
    await page.getByRole("heading", { name: "Connect your first agent" }).waitFor();
    await readPage();
    step();
    await page.getByRole("link", { name: "Skip to the overview" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await readPage();
    const connect = async (name: string) => {
      step();
      await page.goto(`${origin}/connect?to=${name}`);
      await readPage();
      step();
      await press(page, "Create a key and insert it");
      await page
        .getByText(/ctx_\w{43}/)
        .first()
        .waitFor();
      await readPage();
      const [key = ""] = /ctx_\w{43}/.exec((await page.locator("main").textContent()) ?? "") ?? [];
      return await connectHttp("v1", origin, { authorization: `Bearer ${key}` });
    };
    await using first = await connect("cursor");
    await using second = await connect("vscode");
    await tellAndAsk(first, second, step);
  });
  await browser.close();
  expectAtMost(MOST.pages);
});
