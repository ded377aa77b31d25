import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import type { Client } from "../support/client.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

/** Opens the list of memories as the person of an account with four memories. */
async function visit(
  use: (page: Page, client: Client & { accountId: string }) => Promise<void>,
  look: Look = {},
): Promise<void> {
  const client = await dashboard.account();
  for (const content of ["One", "Two", "Three", "Four"]) {
    await client.save({ content });
    dashboard.clock.advance(1);
  }
  await dashboard.visitAs(
    client.accountId,
    async (page) => {
      await page.goto(`${dashboard.origin}/memories`);
      await use(page, client);
    },
    look,
  );
}

const shown = (page: Page) => page.locator(".memory-text").allTextContents();
const select = (page: Page, content: string) =>
  page.getByRole("checkbox", { name: `Select “${content}”` }).check();
const contents = async (client: Client) =>
  (await client.list()).memories.map(({ content }) => content);

test.each<[string, Look]>([
  ["", {}],
  [", in the dark on a narrow screen", { dark: true, narrow: true }],
])(
  "what is deleted goes from the list at once, and comes back when it is undone%s",
  async (_, look) => {
    await visit(async (page, client) => {
      await select(page, "Three");
      await select(page, "Two");
      await press(page, "Delete");
      await page.getByText("2 memories are deleted.").first().waitFor();
      expect(await shown(page)).toEqual(["Four", "One"]);
      await page.getByText("2 memories", { exact: true }).waitFor();
      // The focus is on the row in place of the first deleted one.
      expect(await page.evaluate<string>("document.activeElement.textContent")).toBe("One");
      expect(await contents(client)).toHaveLength(4);

      await page.keyboard.press("z");
      await page.getByText("4 memories", { exact: true }).waitFor();
      expect(await shown(page)).toEqual(["Four", "Three", "Two", "One"]);
      await dashboard.applyDue();
      expect(await contents(client)).toHaveLength(4);
    }, look);
  },
);

test("a change is applied even if the page is closed", async () => {
  const client = await dashboard.account();
  await client.save({ content: "One" });
  await dashboard.visitAs(client.accountId, async (page) => {
    await page.goto(`${dashboard.origin}/memories`);
    await press(page, "Select all on this page");
    await press(page, "Delete");
    await page.getByText("1 memory is deleted.").first().waitFor();
    await page.getByRole("button", { name: "Undo" }).waitFor();
  });
  await dashboard.applyDue();
  expect(await contents(client)).toEqual([]);
});

test("pending changes of tags and projects are shown as if applied", async () => {
  await visit(async (page, client) => {
    await select(page, "Four");
    await page.getByLabel("Tag", { exact: true }).fill("late");
    await press(page, "Add tag");
    await page.getByRole("link", { name: "late" }).waitFor();
    await select(page, "Four");
    await page.getByLabel("Project", { exact: true }).fill("atlas");
    await press(page, "Move");
    await page.getByRole("link", { name: "atlas" }).first().waitFor();
    await dashboard.applyDue();
    const [four] = (await client.list()).memories;
    expect(four).toMatchObject({ content: "Four", tags: ["late"], project: "atlas" });
  });
});

test("memories are pinned, and get an importance and a day of expiry, together", async () => {
  await visit(async (page, client) => {
    // The last change is the one that is undone.
    const both = async () => {
      dashboard.clock.advance(1);
      await select(page, "Four");
      await select(page, "Three");
    };
    await both();
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByText("2 memories are pinned now.").first().waitFor();
    expect(await page.locator(".badge.pinned").count()).toBe(2);
    await both();
    await page.getByText("More", { exact: true }).click();
    await expectSound(page);
    await page.getByLabel("Importance, 0 to 1").fill("0.9");
    await page.keyboard.press("Enter");
    await page.getByText("2 memories now have the importance 0.9.").first().waitFor();
    await both();
    await page.getByText("More", { exact: true }).click();
    await page.getByLabel("Expires (empty: never)").fill("2099-12-03");
    await press(page, "Set expiry");
    await page.getByText("2 memories now expire on 3 Dec 2099.").first().waitFor();
    expect(await page.getByText("Expires 3 Dec 2099").count()).toBe(2);
    await page.keyboard.press("z");
    await page.getByText("Expires 3 Dec 2099").first().waitFor({ state: "detached" });
    await dashboard.applyDue();
    const { memories } = await client.list();
    const facts = memories.map(({ pinned, importance, expires_at }) => [
      ...[pinned, importance, expires_at],
    ]);
    expect(facts).toEqual([
      [true, 0.9, null],
      [true, 0.9, null],
      [false, 0.5, null],
      [false, 0.5, null],
    ]);
  });
});

test("emptying the last page shows the first one, and undoing returns to it", async () => {
  await visit(async (page, client) => {
    await client.saveAll(
      Array.from({ length: 22 }, (_, number) => ({ content: `More ${number}` })),
    );
    await page.reload();
    await page.getByRole("link", { name: "Older" }).click();
    await page.getByRole("link", { name: "Newest" }).waitFor();
    expect(await shown(page)).toEqual(["One"]);
    await select(page, "One");
    await press(page, "Delete");
    await page.getByText("25 memories", { exact: true }).waitFor();
    expect(await shown(page)).toHaveLength(25);
    await page.keyboard.press("z");
    await page.getByText("26 memories", { exact: true }).waitFor();
    expect(await shown(page)).toEqual(["One"]);
  });
});

test("screen readers announce changes that can be undone", async () => {
  await visit(async (page) => {
    await press(page, "Select all on this page");
    await press(page, "Delete");
    await page.getByRole("button", { name: "Undo" }).waitFor();
    await expectSound(page);
  });
});

test("the page shows why a change failed", async () => {
  const client = await dashboard.account();
  await client.save({ content: "Four" });
  // Without the check for console errors, as the browser logs the refused request.
  const page = await dashboard.browser.open();
  const value = await dashboard.sessions.begin(client.accountId);
  await page.context().addCookies([{ name: "ctxd-session", value, url: dashboard.origin }]);
  await page.goto(`${dashboard.origin}/memories`);
  await select(page, "Four");
  await page.getByLabel("Tag", { exact: true }).fill("a,b");
  await press(page, "Add tag");
  await page.getByRole("alert").waitFor();
  expect(await page.getByRole("checkbox", { name: "Select “Four”" }).isChecked()).toBe(true);
  expect(await dashboard.undoable.list(client.accountId)).toEqual([]);

  await page.getByLabel("Tag", { exact: true }).fill("a");
  await press(page, "Add tag");
  const undo = page.getByRole("button", { name: "Undo" });
  await undo.waitFor();
  await dashboard.applyDue();
  await undo.click();
  await page.getByRole("alert").getByText("It is too late to undo this change.").waitFor();
});

test("without JavaScript a deletion asks for confirmation and is applied at once", async () => {
  await visit(
    async (page, client) => {
      await select(page, "Four");
      await press(page, "Delete");
      await press(page, "Delete 1 memory");
      await page.getByText("Deleted permanently: 1 memory.").waitFor();
      expect(await contents(client)).toHaveLength(3);
    },
    { javaScript: false },
  );
});
