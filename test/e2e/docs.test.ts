import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Dashboard, startDashboard } from "../support/dashboard.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

test.each([
  ["light", false],
  ["dark", true],
])(
  "the API page uses the system's colour scheme (%s) and begins with memories",
  async (_, dark) => {
    const { origin } = dashboard;
    await dashboard.browser.visit({ origin, dark }, async (page) => {
      await page.goto(`${origin}/docs`);
      const first = page.locator(".opblock-summary-path").first();
      await first.waitFor();
      expect(await first.getAttribute("data-path")).toBe("/api/memories");
      expect(await page.locator(".opblock-tag").first().getAttribute("data-tag")).toBe("memories");
      expect(await page.locator("html.dark-mode").count()).toBe(dark ? 1 : 0);
    });
  },
);
