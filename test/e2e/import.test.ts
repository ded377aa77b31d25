import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import type { createClient } from "../support/client.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";
import { pdf } from "../support/pdf.ts";
import { until } from "../support/until.ts";
import { zip } from "../support/zip.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

const PATH = "/memories/import";
const LOOKS: [string, Look][] = [
  ["with scripts", { inTurn: true }],
  ["without JavaScript", { javaScript: false }],
];

async function visit(
  look: Look,
  use: (page: Page, client: ReturnType<typeof createClient>) => Promise<void>,
) {
  const client = await dashboard.account();
  const open = async (page: Page) => {
    await page.goto(dashboard.origin + PATH);
    await use(page, client);
  };
  await dashboard.visitAs(client.accountId, open, look);
}

const choose = (page: Page, files: { name: string; buffer: Buffer }[]) =>
  page
    .getByLabel("Files", { exact: true })
    .setInputFiles(files.map((file) => ({ mimeType: "application/octet-stream", ...file })));

const CHAT = {
  uuid: "c-1",
  name: "Planting",
  created_at: "2026-02-14T10:04:22Z",
  chat_messages: [
    { uuid: "m-1", sender: "human", text: "What is <b>planted</b> in May?" },
    { uuid: "m-2", sender: "assistant", text: "Beans." },
  ],
};
const CLAUDE = zip([
  { name: "conversations.json", content: JSON.stringify([CHAT]) },
  { name: "users.json", content: "[]" },
]);

test.each(LOOKS)("a ZIP of Claude and a PDF are previewed, then imported, %s", async (_, look) => {
  await visit(look, async (page, client) => {
    const check = () => (look.javaScript === false ? undefined : expectSound(page));
    const files = [
      { name: "data-2026-02-14.zip", buffer: CLAUDE },
      { name: "bees.pdf", buffer: pdf([["Bees hum."]]) },
    ];
    await choose(page, files);
    await page.getByLabel("Project").fill("garden");
    await page.getByLabel("Only show what would be imported").check();
    await press(page, "Import the files");
    await page.getByText("Nothing is changed yet.").waitFor();
    await page.getByRole("rowheader", { name: "User: What is <b>planted</b> in May?" }).waitFor();
    await page.getByRole("row", { name: "data-2026-02-14.zip, users.json" }).waitFor();
    await check();
    expect((await client.list()).memories).toHaveLength(0);

    await press(page, "Import these");
    await page.getByText("Imported from a PDF and conversations of Claude:").waitFor();
    await check();
    const { memories } = await client.list();
    expect(memories.map(({ content, project, source }) => [content, project, source?.via])).toEqual(
      expect.arrayContaining([
        ["User: What is <b>planted</b> in May?", "garden", "import"],
        ["Assistant: Beans.", "garden", "import"],
        ["bees: Bees hum.", "garden", "import"],
      ]),
    );
  });
});

test.each(LOOKS)(
  "an import is undone as a whole, and nothing else with it, %s",
  async (_, look) => {
    await visit(look, async (page, client) => {
      const mine = await client.save({ content: "Mine stays." });
      const list = Array.from({ length: 600 }, (_, n) => `Note ${n} is about hive ${n * 7}.`);
      await choose(page, [{ name: "list.json", buffer: Buffer.from(JSON.stringify(list)) }]);
      await press(page, "Import the files");
      await page.getByText("Imported from a list in JSON:").waitFor();
      // Also later, on the page of imports.
      await page.goto(dashboard.origin + PATH);
      await page.getByText("Your last import: 600 memories from a list in JSON").waitFor();
      if (look.javaScript !== false) await expectSound(page);
      await press(page, "Undo: delete 600 memories");
      await page.getByText("The import is undone: 600 memories deleted.").waitFor();
      expect((await client.list()).memories.map(({ id }) => id)).toEqual([mine.id]);
      expect(await page.getByText("Your last import").count()).toBe(0);
    });
  },
);

test("the files of a preview are those of the last one, of this account alone", async () => {
  await visit({}, async (page, client) => {
    await choose(page, [{ name: "a.txt", buffer: Buffer.from("One.") }]);
    await page.getByLabel("Only show what would be imported").check();
    await press(page, "Import the files");
    await page.getByRole("button", { name: "Import these" }).waitFor();
    const kept = await page.locator('input[name="kept"]').inputValue();
    await visit({}, async (other, stranger) => {
      await choose(other, [{ name: "b.txt", buffer: Buffer.from("Two.") }]);
      await other.getByLabel("Only show what would be imported").check();
      await press(other, "Import the files");
      const field = other.locator('input[name="kept"]');
      await field.waitFor({ state: "attached" });
      await field.evaluate((input, value) => input.setAttribute("value", value), kept);
      await press(other, "Import these");
      await other.getByText("The files of this preview are no longer kept.").waitFor();
      expect((await stranger.list()).memories).toHaveLength(0);
    });
    await press(page, "Import these");
    await page.getByText("Imported from text:").waitFor();
    expect((await client.list()).memories.map(({ content }) => content)).toEqual(["One."]);
  });
});

test("an import without memories is not a success, and names the files and reasons", async () => {
  await visit({}, async (page, client) => {
    await choose(page, [{ name: "openapi.json", buffer: Buffer.from('{"openapi": "3.1.0"}') }]);
    await press(page, "Import the files");
    await page.getByRole("alert").filter({ hasText: "is JSON in an unknown format" }).waitFor();
    expect(await page.locator(".done").count()).toBe(0);
    await expectSound(page);
    await choose(page, [
      { name: "empty.md", buffer: Buffer.from("\n") },
      { name: "program", buffer: Buffer.from("\x7fELF\0\0\0") },
    ]);
    await press(page, "Import the files");
    await page.getByText("The files contain nothing that can be imported.").waitFor();
    await page.getByRole("row", { name: "empty.md contains no memories" }).waitFor();
    await page.getByRole("row", { name: "program is binary, not text" }).waitFor();
    expect((await client.list()).memories).toHaveLength(0);
  });
});

test.each<[string, Look]>([
  ["in the dark on a narrow screen", { dark: true, narrow: true }],
  ["without JavaScript", { javaScript: false }],
])(
  "how far a long import is can be seen while it goes on, %s",
  async (_, look) => {
    await visit(look, async (page, client) => {
      const list = Array.from({ length: 3_000 }, (_, n) => `Note ${n} is about hive ${n * 7}.`);
      await choose(page, [{ name: "list.json", buffer: Buffer.from(JSON.stringify(list)) }]);
      await press(page, "Import the files");
      const steps = page.locator(".progress > .step");
      await page.locator(".progress > .step progress").filter({ visible: true }).waitFor();
      // The progress is visible before the import ends.
      expect(await page.getByText("Imported from").count()).toBe(0);
      await page.getByText("Imported from a list in JSON:").waitFor({ timeout: 120_000 });
      expect(await steps.filter({ visible: true }).count()).toBe(1);
      expect(await page.getByRole("definition").first().textContent()).toBe("3,000");
      expect((await client.list({ limit: 1 })).memories).toHaveLength(1);
    });
  },
  150_000,
);

test("leaving the page ends an import, and a new one can begin", async () => {
  await visit({}, async (page) => {
    const list = Array.from({ length: 100_000 }, (_, n) => `Note ${n} is about hive ${n * 7}.`);
    const buffer = Buffer.from(JSON.stringify(list));
    await choose(page, [{ name: "list.json", buffer }]);
    await press(page, "Import the files");
    await page.locator(".progress > .step progress").filter({ visible: true }).waitFor();
    const small = [{ name: "a.txt", buffer: Buffer.from("One.") }];
    await until("the first import has ended and the second one is complete", async () => {
      await page.goto(dashboard.origin + PATH);
      await choose(page, small);
      await press(page, "Import the files");
      await page.getByText(/Imported from text:|Your last upload is still being read/).waitFor();
      return (await page.getByText("Imported from text:").count()) > 0;
    });
    expect(await page.getByRole("alert").count()).toBe(0);
  });
});
