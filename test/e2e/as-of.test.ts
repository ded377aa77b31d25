import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

const DAY = 86_400_000;
const project = "atlas";
const LOOKS: [string, Look][] = [
  ["", { inTurn: true }],
  [", without JavaScript", { javaScript: false }],
];

const listed = async (page: Page) => (await page.locator(".memory-text").allInnerTexts()).sort();
const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
const longDay = (day: string) =>
  new Date(day).toLocaleDateString("en-GB", { timeZone: "UTC", dateStyle: "long" });

/** A project where a fact has changed on the day after, and another memory has been edited since. */
async function changedProject() {
  const client = await dashboard.account();
  const day = dayOf(dashboard.clock());
  const old = await client.save({ content: "Atlas is deployed on Mondays", project });
  const edited = await client.save({ content: "Atlas is writen in Go", project });
  dashboard.clock.advance(DAY);
  await client.update(edited.id, { content: "Atlas is written in Go" });
  const now = { content: "Atlas is deployed on Fridays", project, supersedes: old.id };
  await client.save(now);
  await client.save({ content: "Atlas has a mascot", project });
  dashboard.clock.advance(DAY);
  return { client, day };
}

test.each(LOOKS)("a list, a search and a memory show a day in the past%s", async (_, look) => {
  const { client, day } = await changedProject();
  const check = async (page: Page) => {
    // The accessibility check needs scripts.
    if (look.javaScript !== false) await expectSound(page);
  };
  await dashboard.visitAs(
    client.accountId,
    async (page) => {
      await page.goto(`${dashboard.origin}/memories`);
      expect(await listed(page)).toContain("Atlas is deployed on Fridays");
      await page.getByText("Filters", { exact: true }).click();
      await page.getByLabel("As of").fill(day);
      await page.getByRole("button", { name: "Search", exact: true }).click();
      await page.waitForURL(/as_of=/);
      const chip = page.getByRole("link", { name: `As of ${longDay(day)}` });
      await chip.waitFor();
      const known = ["Atlas is deployed on Mondays", "Atlas is written in Go"];
      expect(await listed(page)).toEqual(known);
      await page.getByText("Changed since", { exact: true }).waitFor();
      await check(page);

      await page.getByLabel("Search", { exact: true }).fill("When is Atlas deployed?");
      if (look.javaScript === false) await press(page, "Search");
      await page.waitForURL(/q=When/);
      await page.getByText("best first").waitFor();
      expect(await listed(page)).toContain("Atlas is deployed on Mondays");
      expect(await listed(page)).not.toContain("Atlas is deployed on Fridays");

      await page.getByRole("link", { name: "Atlas is deployed on Mondays" }).click();
      await page.waitForURL(/memories\/mem_.*as_of=/);
      await chip.waitFor();
      await page.getByText("It held then").waitFor();
      await check(page);
      await page.getByRole("link", { name: "has been superseded since" }).click();
      await page.getByRole("heading", { name: "History" }).waitFor();
      expect(page.url()).not.toContain("as_of");
      await page.goBack();
      await chip.click();
      await page.getByText("This memory is out of date").waitFor();
      expect(page.url()).not.toContain("as_of");
    },
    look,
  );
});

test.each(LOOKS)(
  "the page of a project shows a day in the past, and the way back%s",
  async (_, look) => {
    const { client, day } = await changedProject();
    await dashboard.visitAs(
      client.accountId,
      async (page) => {
        const path = `${dashboard.origin}/projects/${project}`;
        await page.goto(path);
        const recall = page.getByRole("heading", { name: "What an agent is told" });
        await recall.waitFor();
        await page.getByLabel("Day", { exact: true }).fill(day);
        await press(page, "Show");
        await page.getByRole("link", { name: `As of ${longDay(day)}` }).waitFor();
        const known = ["Atlas is deployed on Mondays", "Atlas is written in Go"];
        expect(await listed(page)).toEqual(known);
        expect(await recall.count()).toBe(0);
        if (look.javaScript !== false) await expectSound(page);
        await page.getByRole("link", { name: "All memories of then" }).click();
        await page.waitForURL(/\/memories\?.*as_of=/);
        expect(await listed(page)).toEqual(known);
        await page.goBack();
        await page.getByRole("link", { name: "Back to today", exact: true }).click();
        await recall.waitFor();
        expect(page.url()).toBe(path);
        expect(await listed(page)).toContain("Atlas is deployed on Fridays");
      },
      look,
    );
  },
);

test("a day that is not over, and a text that is no day, show the present", async () => {
  const { client } = await changedProject();
  await dashboard.visitAs(client.accountId, async (page) => {
    for (const day of ["2999-01-01", dayOf(dashboard.clock()), "yesterday", "2026-02-31"]) {
      for (const path of ["/memories", `/projects/${project}`]) {
        await page.goto(`${dashboard.origin}${path}?as_of=${day}`);
        expect(await listed(page)).toContain("Atlas is deployed on Fridays");
        expect(await page.getByRole("link", { name: "As of" }).count()).toBe(0);
      }
    }
  });
});
