import { afterAll, beforeAll, expect, test } from "bun:test";
import type { TidyReport } from "../../src/memories/rules/tidy/report.ts";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import type { Client } from "../support/client.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";
import { sharedEmbedder, startRelations } from "../support/embedder.ts";
import { AT_ONCE } from "../support/kept-table.ts";
import { join } from "../support/space-team.ts";
import { until } from "../support/until.ts";

let dashboard: Dashboard;
startRelations();
beforeAll(async () => {
  dashboard = await startDashboard({ embedder: sharedEmbedder(), due: AT_ONCE });
});
afterAll(() => dashboard?.close());

const DAY = 86_400_000;
const LOOKS: [string, Look][] = [
  ["with scripts", { inTurn: true }],
  ["without JavaScript", { javaScript: false }],
];
const TABS = ["The user prefers tabs over spaces.", "The user prefers tabs to spaces."] as const;
const MOVED = ["Sam lives in Porto.", "Sam lives in Graz now."] as const;
const TRAIN = [
  "The release train leaves every second Tuesday.",
  "Every second Tuesday the release train leaves.",
] as const;

/** Opens the overview as the person of an account in which facts are repeated and changed. */
async function visit(
  look: Look,
  use: (page: Page, client: Client & { accountId: string }) => Promise<void>,
) {
  const client = await dashboard.account();
  for (const [older, newer] of [TABS, MOVED, TRAIN]) {
    await client.save({ content: older });
    dashboard.clock.advance(DAY);
    await client.save({ content: newer });
  }
  await client.save({ content: "The office plant needs water.", expires_at: dayAfter(3) });
  await until("all memories are compared", async () => {
    const report = (await client.send("GET", "/memories/tidy")).body as TidyReport;
    return report.compared === 1 && report.kinds.restatements === 2;
  });
  const open = async (page: Page) => {
    await page.goto(`${dashboard.origin}/`);
    await use(page, client);
  };
  await dashboard.visitAs(client.accountId, open, look);
}

/** Opens the overview until it names something: what takes too long to count is left out. */
const openOverview = (page: Page, name: string) =>
  until(`the overview says that ${name}`, async () => {
    await page.goto(`${dashboard.origin}/`);
    return await page.getByRole("link", { name }).isVisible();
  });

const dayAfter = (days: number) => new Date(dashboard.clock() + days * DAY).toISOString();
const shown = (page: Page) => page.locator(".tidy .memory-text").allTextContents();
const current = async (client: Client) =>
  (await client.list()).memories.map(({ content }) => content);

test.each(LOOKS)(
  "the overview leads to what is kept twice, which is tidied and undone, %s",
  async (_, look) => {
    await visit(look, async (page, client) => {
      const check = () => (look.javaScript === false ? undefined : expectSound(page));
      await openOverview(page, "1 fact has changed");
      await page.getByRole("link", { name: "2 facts are kept twice or more" }).click();
      await page.getByRole("heading", { name: "Tidy", exact: true }).waitFor();
      await check();
      expect(await shown(page)).toEqual([TRAIN[1], TRAIN[0], TABS[1], TABS[0]]);
      const keep = `Keep one, the others as its history “${TABS[1]}”`;
      await press(page, keep);
      await page.getByText("1 memory is history now.").first().waitFor();
      expect(await shown(page)).toEqual([TRAIN[1], TRAIN[0]]);
      await check();
      await press(page, "Undo");
      await page.getByText(TABS[0]).first().waitFor();
      expect(await shown(page)).toEqual([TRAIN[1], TRAIN[0], TABS[1], TABS[0]]);
      await dashboard.applyDue();
      expect(await current(client)).toContain(TABS[0]);

      await press(page, keep);
      await page.getByText("1 memory is history now.").first().waitFor();
      await dashboard.applyDue();
      expect(await current(client)).toContain(TABS[1]);
      expect(await current(client)).not.toContain(TABS[0]);
    });
  },
);

test.each(LOOKS)("all of a kind are previewed, and some left out, %s", async (_, look) => {
  await visit(look, async (page, client) => {
    const check = () => (look.javaScript === false ? undefined : expectSound(page));
    await page.goto(`${dashboard.origin}/memories`);
    await page.getByRole("link", { name: "Tidy", exact: true }).click();
    await page.getByRole("heading", { name: "Expire soon" }).waitFor();
    await check();
    await page.getByRole("link", { name: "Do it with all 2 …" }).click();
    await page.getByText("2 memories become history.").waitFor();
    await check();
    await page.getByRole("checkbox", { name: TABS[1] }).uncheck();
    await press(page, "Keep one, the others as its history");
    await page.getByText("1 memory is history now.").first().waitFor();
    expect(await shown(page)).toEqual([TABS[1], TABS[0]]);
    await dashboard.applyDue();
    const left = await current(client);
    expect(left).toContain(TABS[0]);
    expect(left).not.toContain(TRAIN[0]);
  });
});

test("another action than the proposed one may be chosen, from the keyboard too", async () => {
  await visit({}, async (page, client) => {
    await page.goto(`${dashboard.origin}/memories/tidy?kind=expiring`);
    await page.getByRole("button", { name: "Pin “The office plant needs water.”" }).focus();
    await page.keyboard.press("Enter");
    await page.getByText("1 memory is pinned now.").first().waitFor();
    await page.getByText("Nothing of this kind is left").waitFor();
    await page.keyboard.press("z");
    await page.getByRole("link", { name: "The office plant needs water." }).waitFor();
    await page.getByRole("button", { name: "Pin “The office plant needs water.”" }).click();
    await page.getByText("1 memory is pinned now.").first().waitFor();
    await dashboard.applyDue();
    const [plant] = (await client.list()).memories;
    expect(plant).toMatchObject({ pinned: true, expires_at: null });
  });
});

test("an account with nothing to tidy says so, and the palette leads there", async () => {
  const client = await dashboard.account();
  await client.save({ content: "The office plant needs water." });
  await dashboard.visitAs(client.accountId, async (page) => {
    await page.goto(`${dashboard.origin}/`);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("Tidy memories");
    await page.keyboard.press("Enter");
    await page.getByText("Nothing to tidy").waitFor();
    await expectSound(page);
    expect(page.url()).toBe(`${dashboard.origin}/memories/tidy`);
  });
});

test("in a space a member who only reads is offered no change", async () => {
  const owner = await dashboard.account();
  const space = await dashboard.spaces.create(owner.accountId, "acme");
  for (const content of TABS) {
    await owner.send("POST", "/memories?space=acme", { json: { content } });
    dashboard.clock.advance(DAY);
  }
  await until("the memories of the space are compared", async () => {
    const { body } = await owner.send("GET", "/memories/tidy?space=acme");
    return (body as TidyReport).kinds.restatements === 1;
  });
  const reader = await dashboard.account();
  await join(dashboard, space, reader, "read");
  for (const [{ accountId }, buttons] of [
    [owner, 2],
    [reader, 0],
  ] as const) {
    await dashboard.visitAs(accountId, async (page) => {
      await page.goto(`${dashboard.origin}/spaces/${space.id}`);
      await press(page, "Show its memories");
      await page.getByText(TABS[1]).waitFor();
      await openOverview(page, "1 fact is kept twice");
      await page.getByRole("link", { name: "1 fact is kept twice" }).click();
      await page.getByText(TABS[0]).waitFor();
      expect(await page.locator(".tidy button").count()).toBe(buttons);
    });
  }
});
