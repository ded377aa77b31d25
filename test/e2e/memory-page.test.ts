import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Look } from "../support/browser.ts";
import { type Dashboard, press, startDashboard } from "../support/dashboard.ts";
import { until } from "../support/until.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

const LONG = Array.from({ length: 200 }, (_, line) => `Line ${line}\tof a long text`).join("\n");

test("a text, an id and JSON are copied, and the key e opens the form", async () => {
  const client = await dashboard.account();
  const { id, ...memory } = await client.save({ content: "One  space\n\ttwo", tags: ["a"] });
  await dashboard.visitAs(client.accountId, async (page) => {
    const granted = ["clipboard-read", "clipboard-write"];
    await page.context().grantPermissions(granted, { origin: dashboard.origin });
    await page.goto(`${dashboard.origin}/memories/${id}`);
    const copied = async (name: string) => {
      // By its place: what is on it changes.
      const button = await page.getByRole("button", { name }).elementHandle();
      await button?.click();
      const says = async () => (await button?.textContent())?.includes("Copied") ?? null;
      await until(`it has done what it is for: ${name}`, says);
      return page.evaluate<string>("navigator.clipboard.readText()");
    };
    expect(await copied("Copy text")).toBe("One  space\n\ttwo");
    expect(await copied("Copy the id")).toBe(id);
    expect(JSON.parse(await copied("Copy as JSON"))).toMatchObject({ id, ...memory });
    for (const name of ["Copy text", "Copy the id", "Copy as JSON"]) {
      await page.getByRole("button", { name }).waitFor();
    }
    await page.keyboard.press("e");
    await page.waitForURL(/\/edit$/);
    // In a text field a key enters a letter.
    await page.getByLabel("Text").fill("");
    await page.keyboard.type("see");
    await press(page, "Save changes");
    await page.getByText("The changes are saved.").waitFor();
    expect(await client.get(id)).toMatchObject({ content: "see" });
  });
});

test("the Markdown of a memory reads well and loads nothing", async () => {
  const client = await dashboard.account();
  const row = (cell: string) => `|${` ${cell} |`.repeat(9)}`;
  const { id } = await client.save({
    content: `### Deploy\n\nFirst **build**, then:\n- [x] tag\n- push to https://git.example/ctxd\n\n![logo](https://evil.example/logo.png) <img src="https://evil.example/x.png">\n\n\`\`\`sh\n${"make deploy ".repeat(20)}\n\`\`\`\n\n${row("Name")}\n${row("--")}\n${row("a value")}\n${row("")}\n\n> quoted\n\n# Last`,
  });
  await dashboard.visitAs(
    client.accountId,
    async (page) => {
      await page.goto(`${dashboard.origin}/memories/${id}?show=all`);
      const text = page.locator("#memory-text");
      expect(await text.getByRole("heading").allTextContents()).toEqual(["Deploy", "Last"]);
      expect(await text.locator("img").count()).toBe(0);
      expect(await text.getByRole("link").allTextContents()).toEqual([
        "https://git.example/ctxd",
        "https://evil.example/logo.png",
        "https://evil.example/x.png",
      ]);
      await expectSound(page);
      await page.getByRole("link", { name: "Show as written" }).click();
      await text.getByText("First **build**, then:").waitFor();
      await expectSound(page);
    },
    { inTurn: true },
  );
});

test.each<[string, Look]>([
  ["", { inTurn: true }],
  [", without JavaScript", { javaScript: false }],
])("a long text is unfolded, and a memory is pinned with one click%s", async (_, look) => {
  const client = await dashboard.account();
  const { id } = await client.save({ content: LONG });
  await dashboard.visitAs(
    client.accountId,
    async (page) => {
      await page.goto(`${dashboard.origin}/memories/${id}`);
      const height = async () => (await page.locator("#memory-text").boundingBox())?.height ?? 0;
      expect(await page.locator("#memory-text").textContent()).toBe(LONG);
      expect(await height()).toBeLessThan(500);
      await page.getByRole("link", { name: "Show all" }).click();
      await page.waitForURL(/show=all/);
      expect(await height()).toBeGreaterThan(2_000);
      if (look.javaScript !== false) await expectSound(page);
      await press(page, "Pin");
      await page.getByText("The memory is pinned: it never fades.", { exact: true }).waitFor();
      expect(await client.get(id)).toMatchObject({ pinned: true });
      await press(page, "Unpin");
      await page.getByText("No longer pinned: it fades.").waitFor();
      expect(await client.get(id)).toMatchObject({ pinned: false });
    },
    look,
  );
});
