import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

/** Opens a page as the person of a new account. */
async function visit(
  use: (page: Page, client: Awaited<ReturnType<Dashboard["account"]>>) => Promise<void>,
  look: Look = {},
): Promise<void> {
  const client = await dashboard.account();
  await dashboard.visitAs(client.accountId, (page) => use(page, client), look);
}

const LOOKS: [string, Look][] = [
  ["", { inTurn: true }],
  [", without JavaScript", { javaScript: false }],
];

const listed = (page: Page) => page.locator(".memory-text").allInnerTexts();
const ways = (page: Page) => page.getByRole("navigation", { name: "Projects" });
const addressOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

test.each(LOOKS)("projects can be switched, and memories moved between them%s", async (_, look) => {
  const check = async (page: Page) => {
    // The accessibility check needs scripts.
    if (look.javaScript !== false) await expectSound(page);
  };
  await visit(async (page, client) => {
    await client.saveAll([
      { content: "The hull of atlas is red", project: "atlas" },
      { content: "The mast of atlas is tall", project: "atlas" },
      { content: "The hull of boreas is blue", project: "boreas, the ship" },
      { content: "The user likes hulls" },
    ]);
    await page.goto(`${dashboard.origin}/memories`);
    await check(page);
    expect(await ways(page).getByRole("link").allInnerTexts()).toEqual([
      ...["All projects 4", "atlas 2", "boreas, the ship 1", "No project 1"],
    ]);
    await ways(page).getByRole("link", { name: "atlas" }).click();
    await page.waitForURL(/project=atlas/);
    expect((await listed(page)).sort()).toEqual([
      ...["The hull of atlas is red", "The mast of atlas is tall"],
    ]);
    await check(page);

    await page.getByLabel("Search", { exact: true }).fill("hull");
    if (look.javaScript === false) await press(page, "Search");
    await page.waitForURL(/q=hull/);
    await page.getByText("1 memory, best first").waitFor();
    expect(await listed(page)).toEqual(["The hull of atlas is red"]);
    await ways(page).getByRole("link", { name: "boreas" }).click();
    await page.waitForURL(/project=boreas/);
    expect(addressOf(page)).toMatchObject({ q: "hull", project: "boreas, the ship" });
    expect(await listed(page)).toEqual(["The hull of boreas is blue"]);

    await page.getByRole("checkbox", { name: /^Select/ }).check();
    await page.getByLabel("Project", { exact: true }).fill("atlas");
    await press(page, "Move");
    await page.getByText("1 memory now belongs to the project “atlas”.").first().waitFor();
    await dashboard.applyDue();
    await page.reload();
    expect(addressOf(page)).toMatchObject({ project: "boreas, the ship" });
    expect(await ways(page).getByRole("link", { name: "boreas" }).textContent()).toEndWith(" 0");
    await ways(page).getByRole("link", { name: "atlas" }).click();
    await page.waitForURL(/project=atlas/);
    await page.getByRole("checkbox", { name: "The hull of atlas" }).check();
    await page.getByLabel("Project", { exact: true }).fill("");
    await press(page, "Move");
    await page.getByText("1 memory now belongs to no project.").first().waitFor();
    await dashboard.applyDue();
    await page.goto(`${dashboard.origin}/memories`);
    await ways(page).getByRole("link", { name: "No project" }).click();
    await page.waitForURL(/unfiled=1/);
    expect((await listed(page)).sort()).toEqual([
      ...["The hull of atlas is red", "The user likes hulls"],
    ]);
    const { memories } = await client.list({ project: "atlas", project_only: "true" });
    expect(memories.map(({ content }) => content).sort()).toEqual([
      ...["The hull of boreas is blue", "The mast of atlas is tall"],
    ]);
  }, look);
});

test("projects are hidden if there are none, and each of many can be found", async () => {
  await visit(async (page, client) => {
    await client.save({ content: "One" });
    await page.goto(`${dashboard.origin}/memories`);
    expect(await ways(page).count()).toBe(0);
    await client.saveAll(
      Array.from({ length: 12 }, (_, n) => ({ content: `Of ${n}`, project: `project-${n + 10}` })),
    );
    await page.reload();
    expect(await ways(page).getByText("4 more").isVisible()).toBe(true);
    await expectSound(page);
    await ways(page).getByText("4 more").click();
    await page.getByLabel("Project name").fill("project-21");
    await press(page, "Show");
    await page.waitForURL(/project=project-21/);
    await expectSound(page);
    const here = ways(page).locator("[aria-current]");
    expect(await here.textContent()).toBe("project-21 1");
    await page.getByRole("link", { name: "Add a memory" }).click();
    expect(await page.getByLabel("Project").inputValue()).toBe("project-21");
  });
});

test.each(LOOKS.slice(0, 2))(
  "all memories of a project are moved, then deleted%s",
  async (_, look) => {
    await visit(async (page, client) => {
      const [first] = await client.saveAll(
        Array.from({ length: 30 }, (_, n) => ({ content: `Number ${n}`, project: "old name" })),
      );
      await client.save({ content: "Number 0 has changed", supersedes: first?.id ?? "" });
      await client.save({ content: "Elsewhere", project: "other" });
      const take = async (project: string, action: string) => {
        await page.goto(`${dashboard.origin}/memories?project=${encodeURIComponent(project)}`);
        await page
          .getByRole("checkbox", { name: /^Select/ })
          .first()
          .check();
        await page.getByText("all memories that match these filters").click();
        if (action === "Move") await page.getByLabel("Project", { exact: true }).fill("new name");
        await press(page, action);
      };
      const before = await client.get(first?.id ?? "");
      dashboard.clock.advance(86_400_000);
      await take("old name", "Move");
      await page.getByText("31 memories now belong to the project “new name”.").waitFor();
      expect(await client.get(before.id)).toMatchObject({
        ...{ project: "new name", updated_at: before.updated_at },
      });
      await take("new name", "Delete");
      await page.getByRole("heading", { name: "Delete all memories that" }).first().waitFor();
      expect((await client.list({ project: "new name" })).memories.length).toBeGreaterThan(0);
      await press(page, "Delete all memories that match these filters");
      await page.getByText("Deleted permanently: 31 memories.").waitFor();
      const { memories } = await client.list({ include_superseded: "true" });
      expect(memories.map(({ content }) => content)).toEqual(["Elsewhere"]);
    }, look);
  },
);

test("memories can be filtered by the key that wrote them", async () => {
  await visit(async (page, client) => {
    const { accountId } = client;
    const made = await dashboard.keys.create(accountId, {
      ...{ name: "browser agent", scopes: ["memories:add"], expiresAt: null, bound: null },
    });
    await client.save({ content: "Written by the other key" });
    const response = await fetch(`${dashboard.origin}/api/memories`, {
      method: "POST",
      headers: { authorization: `Bearer ${made.key}`, "content-type": "application/json" },
      body: JSON.stringify({ content: "Believed a web page", tags: ["web"] }),
    });
    expect(response.status).toBe(201);
    await page.goto(`${dashboard.origin}/memories`);
    await page.getByText("Filters").click();
    await page.getByLabel("Written by", { exact: true }).selectOption("browser agent (key)");
    await page.waitForURL(/source=key_/);
    await page.getByText("1 memory", { exact: true }).waitFor();
    expect(await listed(page)).toEqual(["Believed a web page"]);
    await page.getByRole("link", { name: "Believed a web page" }).click();
    await page.getByText("over the API").waitFor();
    await page.getByRole("link", { name: "browser agent" }).click();
    await page.waitForURL(/source=key_/);
    expect(await listed(page)).toEqual(["Believed a web page"]);
    await expectSound(page);
  });
});

/** What is shown in the section with a heading. */
const below = (page: Page, name: string) =>
  page.locator("section", { has: page.getByRole("heading", { name }) }).textContent();

test.each(LOOKS)(
  "the page of a project shows what it knows and what recall says, and renames and merges it%s",
  async (_, look) => {
    const check = async (page: Page) => {
      if (look.javaScript !== false) await expectSound(page);
    };
    await visit(async (page, client) => {
      await client.saveAll([
        { content: "The hull is red", project: "acme/atlas <b>", tags: ["paint"] },
        { content: "Never sail in fog", project: "acme/atlas <b>", importance: 0.9 },
        { content: "The mast is of spruce", project: "acme/boreas" },
        { content: "Answer in short sentences", pinned: true },
      ]);
      await page.goto(`${dashboard.origin}/projects`);
      await check(page);
      await page.getByRole("link", { name: "acme/atlas <b>" }).click();
      await page.getByRole("heading", { name: "acme/atlas <b>" }).waitFor();
      await check(page);
      expect(await below(page, "Newest")).toContain("The hull is red");
      const important = await below(page, "Pinned and important");
      expect(important).toContain("Never sail in fog");
      expect(important).not.toContain("The hull is red");
      const told = await below(page, "What an agent is told");
      expect(told).toMatch(/Pinned\(.*Answer in short sentences/);
      expect(told).toMatch(/Of this project\(.*Never sail in fog/);
      expect(told).not.toContain("spruce");

      await page.getByLabel("New name").fill("acme/boreas");
      await press(page, "Rename");
      await page.getByText("There is a project with this name.").waitFor();
      await page.getByLabel("New name").fill("..");
      await press(page, "Rename");
      await page.getByText("2 memories now belong to the project “..”.").waitFor();
      await page.getByRole("heading", { name: "..", exact: true }).waitFor();

      await page.getByLabel("To the project").fill("acme/boreas");
      await press(page, "Move all…");
      await page.getByText("where 1 memory is already").waitFor();
      await check(page);
      await press(page, "Move 2 memories");
      await page.getByText("2 memories now belong to the project “acme/boreas”.").waitFor();
      expect(await below(page, "Newest")).toContain("The mast is of spruce");
      await page.goto(`${dashboard.origin}/projects`);
      const names = await page.getByRole("rowheader").allInnerTexts();
      expect(names.map((name) => name.trim()).sort()).toEqual(["No project", "acme/boreas"]);
    }, look);
  },
);

test("the projects of others can't be seen, renamed or moved, and recall does not count as activity", async () => {
  await visit(async (page, client) => {
    await client.save({ content: "The hull is red", project: "atlas" });
    const { person } = await dashboard.signedIn();
    expect((await person.visit("/projects/atlas")).status).toBe(404);
    expect((await person.visit("/projects/atlas/move?to_project=mine")).status).toBe(404);
    const home = await person.visit("/projects");
    const forged = home.forms.map((form) => ({ ...form, action: "/projects/atlas/rename" }));
    await person.submit({ ...home, forms: forged }, { name: "mine" });
    await page.goto(`${dashboard.origin}/projects/atlas`);
    await page.getByText("The hull is red").first().waitFor();
    await dashboard.activity.flush();
    const kinds = await dashboard.activity.actors(client.accountId, "2000-01-01");
    expect(kinds.map(({ kind }) => kind)).toEqual(["saved"]);
  });
});

test("one project alone is exported", async () => {
  const { accountId, person } = await dashboard.signedIn();
  const client = await dashboard.client(accountId);
  await client.save({ content: "The hull is red", project: "acme/atlas" });
  await client.save({ content: "The mast is of spruce", project: "boreas" });
  const page = await person.visit("/projects/acme%2Fatlas");
  expect(page.text).toContain('href="/memories/export?project=acme%2Fatlas"');
  const lines = (await person.visit("/memories/export?project=acme%2Fatlas")).text.trim();
  expect(lines.split("\n").map((line) => JSON.parse(line).content)).toEqual(["The hull is red"]);
});
