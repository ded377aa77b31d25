import { afterAll, beforeAll, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import {
  expectSound,
  type Look,
  openBrowser,
  type Page,
  type TestBrowser,
} from "../support/browser.ts";
import { press } from "../support/dashboard.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { SET_UP_LINK } from "../support/server.ts";

const embedder = sharedEmbedder();
let browser: TestBrowser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

/** The first request of an agent in the Model Context Protocol. */
async function begin(origin: string, key: string) {
  const response = await fetch(`${origin}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({
      ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
      params: {
        protocolVersion: "2025-11-25",
        capabilities: {},
        clientInfo: { name: "claude-code", version: "1" },
      },
    }),
  });
  expect(response.status).toBe(200);
  await response.text();
}

async function setUp(page: Page, origin: string) {
  await page.goto(`${origin}${SET_UP_LINK}`);
  await page.getByLabel("E-mail address").fill("you@example.com");
  await page.getByLabel("Password").fill("correct horse battery");
  await press(page, "Create my account");
  await page.getByRole("heading", { name: "Connect your first agent" }).waitFor();
}

test.each<[string, Look]>([
  ["with scripts", { inTurn: true }],
  ["without JavaScript", { javaScript: false }],
])("the first steps show a connecting agent, save a memory and find it, %s", async (_, look) => {
  await using server = await startOAuthServer({ embedder });
  const { origin } = server;
  const check = (page: Page) => (look.javaScript === false ? undefined : expectSound(page));
  await browser.visit({ origin, ...look }, async (page) => {
    await setUp(page, origin);
    expect(await page.locator(".copyable code").allTextContents()).toEqual([
      "ctxd connect --all",
      "ctxd connect --all --recall --capture",
    ]);
    await page.getByText("Waiting for an agent").waitFor();
    await check(page);

    const owner = await server.accounts.findOwner();
    const wanted = { name: "laptop", scopes: ["memories:read"], expiresAt: null } as const;
    const { key } = await server.keys.create(owner?.id ?? "", wanted);
    const headers = { authorization: `Bearer ${key}`, "user-agent": "curl/8.14.1" };
    expect((await fetch(`${origin}/api/memories`, { headers })).status).toBe(200);
    if (look.javaScript === false) await page.getByRole("link", { name: "Check again" }).click();
    await page.getByText("A request came from curl with “laptop”").waitFor();
    await page.getByText("Waiting for an agent").waitFor();
    await check(page);
    await begin(origin, key);
    if (look.javaScript === false) await page.getByRole("link", { name: "Check again" }).click();
    await page.getByText("Claude Code is connected").waitFor();
    await check(page);

    await page.getByRole("link", { name: "Continue" }).click();
    await page.getByLabel("Memory").fill("Sam is allergic to peanuts");
    await check(page);
    await press(page, "Save");
    await page.getByText("Sam is allergic to peanuts").waitFor();
    await page.getByLabel("Question").fill("what must nobody cook for him");
    await press(page, "Ask");
    await page.getByText("The memory that you have just saved.").waitFor();
    expect(await page.locator(".answers").textContent()).toMatch(/Score [01]\.\d\d/);
    await check(page);
    await page.getByRole("link", { name: "Go to the overview" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });
});

test("the steps can be left and taken in any order, and refuse invalid input", async () => {
  await using server = await startOAuthServer();
  const { origin } = server;
  await browser.visit({ origin }, async (page) => {
    await setUp(page, origin);
    await page.getByRole("link", { name: "Skip to the overview" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.goto(`${origin}/welcome/ask`);
    await page.getByLabel("Question").fill("anything");
    await press(page, "Ask");
    await page.getByText("Nothing was found").waitFor();
    await page.getByRole("link", { name: "Save a memory" }).click();
    await page.getByLabel("Memory").fill("   ");
    await press(page, "Save");
    await page.getByRole("alert").waitFor();
    await page.getByLabel("Memory").fill(`the token is ghp_${"a1B2c3D4e5F6".repeat(3)}`);
    await press(page, "Save");
    await page.getByText("Contains what looks like a secret").waitFor();
    await expectSound(page);
  });
});
