import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import type { Client } from "../support/client.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

/** Opens a page as the person of a new account. */
async function visit(
  use: (page: Page, client: Client) => Promise<void>,
  look: Look = {},
): Promise<void> {
  const client = await dashboard.account();
  await dashboard.visitAs(client.accountId, (page) => use(page, client), look);
}

test("a memory is saved with all fields, and errors are shown", async () => {
  await visit(async (page, client) => {
    await page.goto(`${dashboard.origin}/memories/new`);
    await expectSound(page);
    await page.getByLabel("Text").fill("First line\nsecond <line>");
    await page.getByLabel("Tags").fill(" work, home ,work,");
    await page.getByText("More", { exact: true }).click();
    await page.getByLabel("Importance").fill("0.9");
    await page.getByLabel("Agent").fill("planner");
    await page.getByLabel("Metadata").fill("[1]");
    await press(page, "Save the memory");
    await page.getByRole("alert").waitFor();
    await expectSound(page);
    await page.getByLabel("Metadata").fill('{"a": [1]}');
    await press(page, "Save the memory");
    await page.getByText("The memory is saved.").waitFor();
    expect((await client.list()).memories).toMatchObject([
      {
        content: "First line\nsecond <line>",
        tags: ["work", "home"],
        importance: 0.9,
        agent_id: "planner",
        session_id: null,
        metadata: { a: [1] },
      },
    ]);
  });
});

test("an edit does not overwrite a change made in the meantime", async () => {
  await visit(async (page, client) => {
    const { id } = await client.save({ content: "One\r\ntwo", tags: ["a"], agent_id: " a  b " });
    await page.goto(`${dashboard.origin}/memories/${id}/edit`);
    await client.update(id, { tags: ["b"] });
    await page.getByLabel("Tags").fill("c");
    await press(page, "Save changes");
    await page.getByText("The memory has changed since.").waitFor();
    expect(await client.get(id)).toMatchObject({ tags: ["b"], content: "One\r\ntwo" });

    await page.goto(`${dashboard.origin}/memories/${id}/edit`);
    await page.getByLabel("Tags").fill("c");
    await press(page, "Save changes");
    await page.getByText("The changes are saved.").waitFor();
    // Values that a browser can't show stay unchanged.
    expect(await client.get(id)).toMatchObject({
      tags: ["c"],
      content: "One\r\ntwo",
      agent_id: " a  b ",
    });
    await page.getByRole("link", { name: "Edit" }).click();
    await press(page, "Save changes");
    await page.getByText("Nothing has changed.").waitFor();
  });
});

test("several memories are selected, tagged and deleted without JavaScript", async () => {
  const use = async (page: Page, client: Client) => {
    await client.saveAll(
      Array.from({ length: 30 }, (_, index) => ({ content: `Memory ${index}`, tags: ["all"] })),
    );
    const open = () => page.goto(`${dashboard.origin}/memories`);
    const select = async () => {
      for (const box of await page.getByRole("checkbox").all()) await box.check();
    };
    await open();
    expect(await page.locator(".memory").count()).toBe(25);
    await page.getByRole("link", { name: "Older" }).click();
    await page.getByRole("link", { name: "Newer" }).waitFor();
    expect(await page.locator(".memory").count()).toBe(5);
    await page.getByRole("link", { name: "Newer" }).click();
    await page.getByText("Memory 29", { exact: true }).waitFor();
    expect(await page.getByText("30 memories", { exact: true }).count()).toBe(1);
    expect(await page.locator(".memory").count()).toBe(25);
    await page.getByRole("link", { name: "Older" }).click();
    await page.getByRole("link", { name: "Newest" }).waitFor();

    await select();
    await page.getByLabel("Tag", { exact: true }).fill("old");
    await press(page, "Add tag");
    await page.getByText("5 memories now have the tag “old”.").waitFor();
    expect((await client.list({ tags: "old" })).memories).toHaveLength(5);

    await page.goto(`${dashboard.origin}/memories?tags=old`);
    await select();
    await press(page, "Delete");
    await page.getByRole("heading", { name: "Delete 5 memories?" }).first().waitFor();
    expect((await client.list({ tags: "old" })).memories).toHaveLength(5);
    await press(page, "Delete 5 memories");
    await page.getByText("Deleted permanently: 5 memories.").waitFor();
    expect((await client.list({ limit: 100 })).memories).toHaveLength(25);
  };
  await visit(use, { javaScript: false });
});

test("an exported file can be imported again", async () => {
  let file = "";
  await visit(async (page, client) => {
    await client.saveAll([{ content: "One" }, { content: "Two", tags: ["<b>"] }]);
    await page.goto(`${dashboard.origin}/memories`);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("link", { name: "Export" }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^ctxd-memories-\d{4}-\d\d-\d\d\.jsonl$/);
    file = await Bun.file(await download.path()).text();
  });
  expect(file.trim().split("\n")).toHaveLength(2);
  await visit(async (page, client) => {
    await page.goto(`${dashboard.origin}/memories/import`);
    await expectSound(page);
    const buffer = Buffer.from(`${file}no memory\n`);
    const choose = () =>
      page
        .getByLabel("Files", { exact: true })
        .setInputFiles({ name: "memories.jsonl", mimeType: "text/plain", buffer });
    await choose();
    await page.getByLabel("Only show what would be imported").check();
    await press(page, "Import the files");
    await page.getByText("Nothing is changed yet.").waitFor();
    expect((await client.list()).memories).toHaveLength(0);
    await choose();
    await press(page, "Import the files");
    await page.getByText("Imported from an export of ctxd:").waitFor();
    await expectSound(page);
    expect(await page.getByRole("row", { name: "line 3 is not valid JSON" }).count()).toBe(1);
    expect((await client.list()).memories.map(({ content }) => content)).toEqual(["Two", "One"]);
  });
});

test.each<[string, Look]>([
  ["", {}],
  [", without JavaScript", { javaScript: false }],
])("selected memories are exported, pinned and filtered%s", async (_, look) => {
  await visit(async (page, client) => {
    await client.saveAll(["One", "Two", "Three"].map((content) => ({ content, tags: ["a"] })));
    await page.goto(`${dashboard.origin}/memories?tags=a`);
    for (const content of ["One", "Three"]) {
      await page.getByRole("checkbox", { name: `Select “${content}”` }).check();
    }
    const [download] = await Promise.all([page.waitForEvent("download"), press(page, "Export")]);
    const lines = (await Bun.file(await download.path()).text()).trim().split("\n");
    expect(lines.map((line) => JSON.parse(line).content).sort()).toEqual(["One", "Three"]);
    await page.getByRole("button", { name: "Pin", exact: true }).click();
    await page.getByText("2 memories are pinned now.").first().waitFor();
    await dashboard.applyDue();
    await page.goto(`${dashboard.origin}/memories?tags=a,b&only=pinned`);
    const shown = await page.locator(".memory-text").allTextContents();
    expect(shown.sort()).toEqual(["One", "Three"]);
    expect(await page.locator(".chip bdi").allTextContents()).toEqual(["#a", "#b", "Pinned"]);
    await page.getByRole("link", { name: "Remove the filter Pinned" }).click();
    await page.getByText("3 memories", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Remove the filter #b" }).click();
    await page.waitForURL(/\?tags=a$/);
  }, look);
});

test.each([true, false])(
  "the most important memories come first on request, scripts or none: %p",
  async (javaScript) => {
    await visit(
      async (page, client) => {
        await client.saveAll(
          Array.from({ length: 30 }, (_, index) => ({
            content: `memory ${index}`,
            importance: (29 - index) / 30,
          })),
        );
        const texts = () => page.locator(".memory > .memory-text").allTextContents();
        await page.goto(`${dashboard.origin}/memories`);
        expect((await texts())[0]).toBe("memory 29");
        await page.getByRole("link", { name: "Most important first" }).click();
        await page.waitForURL(/\?sort=importance$/);
        expect((await texts())[0]).toBe("memory 0");
        await page.getByRole("link", { name: "Less important" }).click();
        await page.getByText("memory 29").waitFor();
        expect(await texts()).toHaveLength(5);
        await page.getByRole("link", { name: "More important" }).click();
        await page.getByText("memory 0", { exact: true }).waitFor();
        await page.getByRole("link", { name: "Newest first" }).click();
        await page.waitForURL(/\/memories$/);
      },
      { javaScript },
    );
  },
);

test("a search is saved in the browser, for one account, and opens again", async () => {
  await visit(async (page, client) => {
    await client.save({ content: "Otter is full", tags: ["servers"], project: "atlas" });
    await client.save({ content: "Heron is empty", project: "atlas" });
    await page.goto(`${dashboard.origin}/memories?project=atlas`);
    const save = page.getByRole("button", { name: "Save this search", exact: true });
    const saved = page.getByRole("navigation", { name: "Saved searches" });
    await page.getByText("Filters").click();
    await page.getByLabel("Tags").fill("servers");
    await page.waitForURL(/project=atlas/);
    await page.getByText("1 memory", { exact: true }).waitFor();
    await save.click();
    await save.waitFor({ state: "hidden" });
    const link = saved.getByRole("link", { name: "atlas, #servers" });
    expect(await link.getAttribute("aria-current")).toBe("true");
    await expectSound(page);
    await page.goto(`${dashboard.origin}/memories`);
    await link.click();
    await page.waitForURL(/tags=servers&project=atlas|project=atlas&tags=servers/);
    await page.getByText("1 memory", { exact: true }).waitFor();

    const other = await dashboard.account();
    const value = await dashboard.sessions.begin(other.accountId);
    const cookies = await page.context().cookies();
    await page.context().addCookies([{ name: "ctxd-session", value, url: dashboard.origin }]);
    await page.goto(`${dashboard.origin}/memories`);
    await saved.waitFor({ state: "hidden" });
    await page.context().addCookies(cookies);
    await page.goto(`${dashboard.origin}/memories`);
    await page.getByRole("button", { name: "Remove the saved search “atlas, #servers”" }).click();
    await saved.waitFor({ state: "hidden" });
  });
});

test("the list says how many superseded memories it leaves out", async () => {
  await visit(async (page, client) => {
    const { id } = await client.save({ content: "Old", project: "atlas" });
    await client.save({ content: "New", project: "atlas", supersedes: id });
    await page.goto(`${dashboard.origin}/memories`);
    await page.getByText("1 memory, and 1 superseded").waitFor();
    await page.getByRole("link", { name: "1 superseded" }).click();
    await page.getByText("2 memories", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Remove the filter With superseded ones" }).click();
    await page.getByText("1 memory, and 1 superseded").waitFor();
  });
});

test("a memory of another account can't be opened", async () => {
  const other = await dashboard.account();
  const { id } = await other.save({ content: "A secret" });
  await visit(async (page) => {
    for (const path of [`/memories/${id}`, `/memories/${id}/edit`, `/memories/${id}/delete`]) {
      const response = await page.goto(dashboard.origin + path);
      expect(response?.status()).toBe(404);
      expect(await page.content()).not.toContain("A secret");
    }
  });
  expect(await other.get(id)).toMatchObject({ content: "A secret" });
});

test.each<[string, Look]>([
  ["", {}],
  [", without JavaScript", { javaScript: false }],
  [", in the dark", { dark: true }],
])("a search shows the matched passage with the words marked%s", async (_, look) => {
  await visit(async (page, client) => {
    const around = "Of this and that we spoke at length. ".repeat(100);
    await client.save({ content: `${around}<b>The spare key</b> hangs & swings. ${around}` });
    await client.save({ content: "<mark>A key</mark> of C major" });
    await page.goto(`${dashboard.origin}/memories?q=where+is+the+spare+key`);
    // The accessibility check needs scripts.
    if (look.javaScript !== false) await expectSound(page);
    const [long, short] = await page.locator(".memory-text").allInnerTexts();
    expect(long).toMatch(/^… <b>The spare key<\/b> hangs & swings\..* …$/);
    expect(short).toBe("<mark>A key</mark> of C major");
    expect(await page.locator("mark").allInnerTexts()).toEqual(["spare", "key", "key"]);
    const [parts = ""] = await page.locator(".score").allTextContents();
    expect(parts).toMatch(/^Score 0\.\d\d.*Words ×\d+(\.\d)?.*Retention 100 %/);

    await page.goto(`${dashboard.origin}/memories`);
    expect(await page.locator("mark").count()).toBe(0);
  }, look);
});
