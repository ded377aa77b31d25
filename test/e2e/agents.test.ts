import { afterAll, beforeAll, expect, test } from "bun:test";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import { createClient } from "../support/client.ts";
import { type Dashboard, follow, press, startDashboard } from "../support/dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

test.each<[string, Look]>([
  ["", { inTurn: true }],
  [", without JavaScript", { javaScript: false }],
])("an agent is paused and resumed, and what it wrote is removed%s", async (_, look) => {
  const check = async (page: Page) => {
    if (look.javaScript !== false) await expectSound(page);
  };
  const own = await dashboard.account();
  const { accountId } = own;
  await own.save({ content: "Saved by hand" });
  const { key } = await dashboard.keys.create(accountId, {
    ...{ name: "laptop", scopes: ["memories:read", "memories:write"], expiresAt: null },
  });
  const laptop = createClient(dashboard.origin, key);
  await laptop.save({ content: "Believed a web page" });
  await dashboard.activity.flush();
  const status = async () => (await laptop.send("GET", "/memories")).status;
  await dashboard.visitAs(
    accountId,
    async (page) => {
      await page.goto(dashboard.origin);
      await follow(page, "Agents");
      await page.getByRole("heading", { name: "Agents" }).waitFor();
      await check(page);
      await page.getByRole("link", { name: "Pause laptop" }).click();
      await page.getByText("until you resume it").waitFor();
      await check(page);
      await press(page, "Pause");
      await page.getByText("“laptop” is paused.").waitFor();
      await check(page);
      expect(await status()).toBe(403);
      await press(page, "Resume laptop");
      await page.getByText("“laptop” may use your memories again.").waitFor();
      expect(await status()).toBe(200);
      await page.getByRole("link", { name: "Remove what it wrote laptop" }).click();
      await press(page, "Delete 1 memory");
      await page.getByText("that “laptop” wrote are deleted permanently.").waitFor();
      const { memories } = await own.list();
      expect(memories.map(({ content }) => content)).toEqual(["Saved by hand"]);
    },
    look,
  );
});
