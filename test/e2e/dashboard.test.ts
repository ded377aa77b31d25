import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import {
  expectSound,
  type Look,
  openBrowser,
  type Page,
  type TestBrowser,
} from "../support/browser.ts";
import { createClient } from "../support/client.ts";
import { follow, press } from "../support/dashboard.ts";
import { SET_UP_LINK } from "../support/server.ts";

const EMAIL = "you@example.com";
const PASSWORD = "correct horse battery";
/** Milliseconds for the whole test on a busy machine. */
const TIMEOUT = 120_000;

let browser: TestBrowser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

const heading = (page: Page, name: string) =>
  page.getByRole("heading", { name, exact: true }).first().waitFor();

const LOOKS: [string, Look][] = [
  ["with scripts", {}],
  ["in the dark on a narrow screen", { dark: true, narrow: true }],
  ["without JavaScript", { javaScript: false }],
];

test.each(LOOKS)(
  "from the first start to a key that is revoked, %s",
  async (_, look) => {
    await using server: OAuthServer = await startOAuthServer();
    const { origin } = server;
    await browser.visit({ origin, ...look }, async (page) => {
      // pages.test.ts checks the appearance of each page in other views.
      const check = () => (look === LOOKS[0]?.[1] ? expectSound(page) : undefined);
      const open = (name: string) => follow(page, name);

      await page.goto(origin + SET_UP_LINK);
      await check();
      await page.getByLabel("E-mail address").fill(EMAIL);
      await page.getByLabel("Password").fill(PASSWORD);
      await page.locator("button.main").click();
      await page.getByRole("heading", { name: "Connect your first agent" }).waitFor();
      await page.goto(origin);
      await page.getByText("No memories yet").waitFor();
      await check();

      await open("API keys");
      await page.getByLabel("Name").fill("laptop");
      await press(page, "Create key");
      const key = (await page.locator(".copyable code").textContent()) ?? "";
      expect(key).toMatch(/^ctx_\w{43}$/);
      await check();
      const client = createClient(origin, key);
      await client.save({ content: "Sam likes green tea", tags: ["food"], agent_id: "planner" });
      await client.save({ content: "The roof was mended in May", tags: ["house"] });

      await open("Memories");
      await page.getByText("Sam likes green tea").waitFor();
      expect(await page.locator(".memory").count()).toBe(2);
      await check();
      const search = page.getByLabel("Search", { exact: true });
      await search.pressSequentially("green");
      // With scripts, typing is enough.
      if (look.javaScript === false) await press(page, "Search");
      await page.getByText("Score").first().waitFor();
      expect(await page.locator(".memory-text").first().textContent()).toBe("Sam likes green tea");
      await page.waitForURL(/\/memories\?q=green/);
      await check();

      await page.getByRole("link", { name: "Sam likes green tea" }).click();
      await heading(page, "Memory");
      await check();
      await page.getByRole("link", { name: "Edit", exact: true }).click();
      await check();
      await page.getByLabel("Text").fill("Sam likes black tea");
      await press(page, "Save changes");
      await page.getByText("The changes are saved.").waitFor();
      expect((await client.list()).memories.map(({ content }) => content)).toContain(
        "Sam likes black tea",
      );

      await page.getByRole("link", { name: "Delete", exact: true }).click();
      await page.getByText("“Sam likes black tea” will be deleted permanently").waitFor();
      await check();
      await press(page, "Delete the memory");
      await page.getByText("The memory is deleted permanently.").waitFor();
      expect((await client.list()).memories).toHaveLength(1);

      await open("Overview");
      await page.getByText("The roof was mended in May").waitFor();
      await check();

      await open("API keys");
      await page.getByRole("link", { name: "Revoke laptop" }).click();
      await press(page, "Revoke the key");
      await page.getByText("The key “laptop” is revoked.").waitFor();
      expect(await client.send("GET", "/memories")).toMatchObject({ status: 401 });
      await check();
    });
  },
  TIMEOUT,
);
