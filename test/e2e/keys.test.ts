import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import { type Dashboard, startDashboard } from "../support/dashboard.ts";
import { until } from "../support/until.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

/** Opens a page as the person of an account with three memories. */
async function visit(use: (page: Page) => Promise<void>, look: Look = {}): Promise<void> {
  const client = await dashboard.account();
  for (const content of ["The roof was mended", "Tea is in the cupboard", "Trains leave at nine"]) {
    await client.save({ content });
    dashboard.clock.advance(1);
  }
  await dashboard.visitAs(client.accountId, use, look);
}

const focused = (page: Page) => page.evaluate<string>("document.activeElement.innerText");

test("keys go through memories, select them and open the form", async () => {
  await visit(async (page) => {
    const { keyboard } = page;
    await page.goto(`${dashboard.origin}/memories`);
    await keyboard.press("j");
    expect(await focused(page)).toBe("Trains leave at nine");
    await keyboard.press("j");
    await keyboard.press("x");
    expect(await focused(page)).toBe("Tea is in the cupboard");
    await keyboard.press("k");
    await keyboard.press("k");
    expect(await focused(page)).toBe("Trains leave at nine");
    expect(await page.getByRole("checkbox", { name: "Tea is in" }).isChecked()).toBe(true);
    await page.getByRole("group", { name: "With the selected memories" }).waitFor();
    await expectSound(page);
    await keyboard.press("Escape");
    expect(await page.locator("[name=id]:checked").count()).toBe(0);

    await keyboard.press("/");
    await keyboard.type("jkxe?");
    expect(await page.getByLabel("Search", { exact: true }).inputValue()).toBe("jkxe?");
    await page.getByLabel("Search", { exact: true }).fill("");
    await page.getByText("3 memories", { exact: true }).waitFor();
    await page.locator("h1").click();
    await keyboard.press("j");
    await Promise.all([page.waitForURL(/\/memories\/mem_\w+\/edit$/), keyboard.press("e")]);
  });
});

test("shortcuts are listed, and single keys can be turned off", async () => {
  await visit(async (page) => {
    const { keyboard } = page;
    await page.goto(dashboard.origin);
    await keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await expectSound(page);
    await page.getByLabel("Use single-key shortcuts").uncheck();
    await page.getByRole("button", { name: "Close" }).click();
    await page.goto(`${dashboard.origin}/memories`);
    await keyboard.press("j");
    await keyboard.press("?");
    expect(await page.locator("dialog[open]").count()).toBe(0);
    expect(await page.locator(".memory-text:focus").count()).toBe(0);
    await keyboard.press("Control+k");
    await page.getByRole("dialog", { name: "Search and commands" }).waitFor();
  });
});

test("the palette opens pages and finds memories", async () => {
  await visit(
    async (page) => {
      const { keyboard } = page;
      await page.goto(`${dashboard.origin}/keys`);
      await keyboard.press("Control+k");
      const field = page.getByRole("combobox", { name: "Search memories or go to a page" });
      await field.waitFor();
      await expectSound(page);
      await keyboard.type("mem");
      const options = page.getByRole("option");
      const chosen = page.locator('[role="option"][aria-selected="true"]');
      expect(await chosen.textContent()).toBe("Memories");
      await keyboard.press("ArrowDown");
      expect(await chosen.textContent()).toBe("Add a memory");
      expect(await field.getAttribute("aria-activedescendant")).toBe(
        await chosen.getAttribute("id"),
      );
      await Promise.all([page.waitForURL(/\/memories\/new$/), keyboard.press("Enter")]);

      await keyboard.press("Control+k");
      await field.fill("<i>roof & mended");
      expect(await chosen.textContent()).toBe("Search memories for “<i>roof & mended”");
      await options.filter({ hasText: "The roof was mended" }).waitFor();
      await expectSound(page);
      await keyboard.press("Enter");
      await page.waitForURL(/\/memories\?q=/);
      expect(await page.getByLabel("Search", { exact: true }).inputValue()).toBe(
        "<i>roof & mended",
      );

      await keyboard.press("Control+k");
      await field.fill("roof");
      await options.filter({ hasText: "The roof was mended" }).click();
      await page.waitForURL(/\/memories\/mem_/);
      await keyboard.press("/");
      await field.waitFor();
      await keyboard.press("Escape");
      await field.waitFor({ state: "hidden" });
    },
    { inTurn: true },
  );
});

test("the palette has projects, help and themes, and nothing twice", async () => {
  const client = await dashboard.account();
  await client.save({ content: "One", project: "<b>atlas" });
  await dashboard.visitAs(client.accountId, async (page) => {
    await page.goto(`${dashboard.origin}/memories`);
    const options = page.locator("#palette-list").getByRole("option");
    const field = page.getByRole("combobox", { name: "Search memories or go to a page" });
    await page.keyboard.press("Control+k");
    await field.waitFor();
    const labels = await options.allTextContents();
    expect(labels.filter((label) => /import|export|add a mem/i.test(label)).sort()).toEqual([
      ...["Add a memory", "Export", "Import"],
    ]);
    expect(new Set(labels).size).toBe(labels.length);
    await field.fill("atl");
    await options.filter({ hasText: "<b>atlas" }).first().click();
    await page.waitForURL(/\/projects\/%3Cb%3Eatlas$/);
    const colours = () =>
      page.evaluate<string>("getComputedStyle(document.documentElement).colorScheme");
    expect(await colours()).toBe("light dark");
    await page.keyboard.press("Control+k");
    await field.fill("dark");
    await options.filter({ hasText: "Dark theme" }).click();
    // The page is loaded again meanwhile, which ends what is asked of it.
    await until("the page is dark", async () => (await colours().catch(() => null)) === "dark");
    expect(page.url()).toEndWith("/projects/%3Cb%3Eatlas");
    await page.keyboard.press("Control+k");
    await field.fill("help search");
    await field.fill("help found");
    await options.filter({ hasText: "Help: How memories are found" }).click();
    await page.waitForURL(/\/help\/search$/);
    expect(await colours()).toBe("dark");
  });
});

test.each([true, false])(
  "the theme is chosen on the account's page, scripts or none: %p",
  async (javaScript) => {
    const client = await dashboard.account();
    const use = async (page: Page) => {
      await page.goto(`${dashboard.origin}/account`);
      await page.getByRole("button", { name: "Dark theme" }).first().click();
      await page.locator('button[value="dark"][aria-pressed="true"]').waitFor();
      const background = await page
        .locator("body")
        .evaluate((body) => body.ownerDocument.defaultView?.getComputedStyle(body).backgroundColor);
      expect(background).toBe("rgb(15, 16, 20)");
      await page.getByRole("button", { name: "Theme of the system" }).first().click();
      await page.locator('button[value="system"][aria-pressed="true"]').waitFor();
    };
    await dashboard.visitAs(client.accountId, use, { javaScript });
  },
);

test("without JavaScript the palette's button opens the search", async () => {
  await visit(
    async (page) => {
      await page.goto(dashboard.origin);
      await page.getByRole("link", { name: "Search" }).click();
      await page.waitForURL(/\/memories$/);
      expect(await page.getByRole("searchbox").isVisible()).toBe(true);
    },
    { javaScript: false },
  );
});
