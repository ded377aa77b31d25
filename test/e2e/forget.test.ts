import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import type { Client } from "../support/client.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

const LOOKS: [string, Look][] = [
  ["with scripts", { inTurn: true }],
  ["without JavaScript", { javaScript: false }],
];

/** Opens the page as the person of an account with memories about Anna and others. */
async function visit(look: Look, use: (page: Page, client: Client) => Promise<void>) {
  const client = await dashboard.account();
  await client.save({ content: "Anna sings.", session_id: "choir" });
  await client.save({ content: "Anna's sister paints.", project: "atlas" });
  await client.save({ content: "They meet on Mondays.", session_id: "choir" });
  await client.save({ content: "The choir needs a room.", tags: ["anna"] });
  await client.save({ content: "Anna-Lena keeps bees." });
  await client.save({ content: "Joanna sings too." });
  const open = async (page: Page) => {
    await page.goto(`${dashboard.origin}/memories`);
    await page.getByRole("link", { name: "Forget", exact: true }).click();
    await use(page, client);
  };
  await dashboard.visitAs(client.accountId, open, look);
}

const find = async (page: Page, subject: string) => {
  await page.getByLabel("A name, or words for a subject").fill(subject);
  await press(page, "Find");
};
const box = (page: Page, content: string) =>
  page.getByRole("checkbox", { name: `Delete “${content}”` });

test.each(LOOKS)(
  "a person finds, chooses and deletes, and takes a receipt, %s",
  async (_, look) => {
    await visit(look, async (page, client) => {
      const check = () => (look.javaScript === false ? undefined : expectSound(page));
      await check();
      await find(page, "Nobody Nowhere");
      await page.getByText("Nothing is kept about this").waitFor();
      await find(page, "Anna");
      await page.getByRole("heading", { name: "The text names it (2)" }).waitFor();
      await check();
      // What was searched for is in no address.
      expect(page.url()).toBe(`${dashboard.origin}/memories/forget`);
      expect(await box(page, "Anna sings.").isChecked()).toBe(true);
      expect(await box(page, "The choir needs a room.").isChecked()).toBe(false);
      expect(await box(page, "Anna-Lena keeps bees.").isChecked()).toBe(false);
      expect(await page.getByText("Joanna").count()).toBe(0);
      await page.getByText("1 memory of the session choir").waitFor();

      await box(page, "Anna's sister paints.").uncheck();
      await box(page, "The choir needs a room.").check();
      await press(page, "Delete the selected memories");
      await page.getByRole("heading", { name: "Delete 2 memories?" }).last().waitFor();
      await check();
      await press(page, "Delete 2 memories");
      await page.getByRole("heading", { name: "Deleted, with a receipt" }).waitFor();
      await check();
      const shown = (await page.locator("pre").textContent()) ?? "";
      expect(shown).toMatch(/About +not recorded/);
      expect(shown).toContain("Deleted          2, of which captured: 0, superseded: 0");
      expect((await client.list()).memories.map(({ content }) => content)).toEqual([
        "Joanna sings too.",
        "Anna-Lena keeps bees.",
        "They meet on Mondays.",
        "Anna's sister paints.",
      ]);
      const downloading = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download the receipt" }).click();
      const file = await downloading;
      expect(file.suggestedFilename()).toMatch(/^ctxd-receipt-\d{4}-\d\d-\d\d\.txt$/);
      expect(readFileSync(await file.path(), "utf8")).toBe(shown);
    });
  },
);

test("the receipt says what was searched for if the person wants it", async () => {
  await visit({}, async (page) => {
    await find(page, "Anna");
    await press(page, "Delete the selected memories");
    await page.getByLabel("Say in the receipt what I searched for").check();
    await press(page, "Delete 2 memories");
    await page.getByRole("heading", { name: "Deleted, with a receipt" }).waitFor();
    expect(await page.locator("pre").textContent()).toMatch(/About +Anna\n/);
  });
});

test("what the page has no room for is deleted with the rest, unless the person says no", async () => {
  const client = await dashboard.account();
  const contents = Array.from({ length: 60 }, (_, at) => `Brunhilde called, ticket ${at}.`);
  await client.saveAll(contents.map((content) => ({ content })));
  await dashboard.visitAs(client.accountId, async (page) => {
    await page.goto(`${dashboard.origin}/memories/forget`);
    await find(page, "Brunhilde");
    await page.getByText("and 35 memories more that name it").waitFor();
    const kept = await page.locator(".memory-text").first().textContent();
    await box(page, kept ?? "").uncheck();
    await press(page, "Delete the selected memories");
    await press(page, "Delete 59 memories");
    await page.getByRole("heading", { name: "Deleted, with a receipt" }).waitFor();
    expect((await client.list()).memories.map(({ content }) => content)).toEqual([kept ?? ""]);
  });
});

test("a receipt is another person's secret", async () => {
  await visit({}, async (page) => {
    await find(page, "Anna");
    await press(page, "Delete the selected memories");
    await press(page, "Delete 2 memories");
    await page.getByRole("heading", { name: "Deleted, with a receipt" }).waitFor();
    const path = page.url().slice(dashboard.origin.length);
    const { accountId } = await dashboard.account();
    await dashboard.visitAs(accountId, async (other) => {
      const response = await other.goto(dashboard.origin + path);
      expect(response?.status()).toBe(404);
    });
  });
});
