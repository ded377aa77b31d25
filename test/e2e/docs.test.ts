import { afterAll, beforeAll, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import type { Page } from "../support/browser.ts";
import { type Dashboard, startDashboard } from "../support/dashboard.ts";
import { until } from "../support/until.ts";

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());

const colourOf = (page: Page, property: string) =>
  page.evaluate<string>(`getComputedStyle(document.body).${property}`);

/** The page begins with memories, and has the system's colour scheme and our font. */
async function expectOurs(page: Page, background: string): Promise<void> {
  await page.getByRole("heading", { name: "memories", exact: true }).waitFor();
  const first = page.getByRole("heading", { level: 3 }).first();
  expect(await first.textContent()).toContain("List memories");
  expect(await page.title()).toBe("API · ctxd");
  expect(await colourOf(page, "backgroundColor")).toBe(background);
  const font = "getComputedStyle(document.querySelector('.scalar-app')).fontFamily";
  expect(await page.evaluate<string>(font)).toStartWith("Geist");
}

test("the API page has the system's dark colours, and leads to the dashboard", async () => {
  const { origin } = dashboard;
  // Fails if anything is asked of another host, or if the page's policy forbids something.
  await dashboard.browser.visit({ origin, dark: true }, async (page) => {
    await page.goto(`${origin}/docs`);
    await expectOurs(page, "rgb(15, 16, 20)");
    await page.getByRole("link", { name: "Dashboard" }).click();
    await page.waitForURL(/\/(sign-in|setup)/);
  });
});

const SAVING = "tag/memories/POST/api/memories";

test("samples in three languages have the reader's key, and a request can be tried", async () => {
  const { origin } = dashboard;
  const account = await dashboard.account();
  await dashboard.browser.visit({ origin }, async (page) => {
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"], { origin });
    await page.goto(`${origin}/docs#${SAVING}`);
    const operation = page.locator(`[id$="${SAVING}"]`);
    await operation.getByRole("heading", { name: "Save a memory" }).waitFor();
    await expectOurs(page, "rgb(250, 250, 251)");
    await page.getByPlaceholder("Token").first().fill(account.key);
    const sample = operation.locator(".scalar-code-block, pre").first();
    for (const [tab, begins] of [
      ["Python", "requests.post("],
      ["JavaScript", "fetch("],
      ["Shell", "curl "],
    ] as const) {
      await page.getByRole("tab", { name: tab }).click();
      await sample.filter({ hasText: begins }).waitFor();
      // The page shows dots, and copies the key. What the button copies may follow what is shown a moment later.
      const copied = await until(`the sample in ${tab} is copied`, async () => {
        await operation
          .getByRole("button", { name: /^Copy .* code$/ })
          .first()
          .click();
        const text = await page.evaluate<string>("navigator.clipboard.readText()");
        return text.startsWith(begins) && text;
      });
      expect(copied).toContain(`Bearer ${account.key}`);
    }
    await operation.getByRole("button", { name: "Test Request" }).click();
    await page.getByRole("button", { name: /^Send post/ }).click();
    await page.getByText("201 Created").waitFor();
  });
  const [saved] = (await account.list()).memories;
  expect(saved?.content).toBe("The user prefers to be called Sam.");
});

test("without scripts, the page lists the requests of the document", async () => {
  const { origin } = dashboard;
  const look = { origin, javaScript: false, narrow: true };
  await dashboard.browser.visit(look, async (page) => {
    await page.goto(`${origin}/docs`);
    const rows = await page.getByRole("rowheader").allTextContents();
    expect(rows.slice(0, 2)).toEqual(["GET /api/memories", "POST /api/memories"]);
    const { paths } = (await (await fetch(`${origin}/docs/json`)).json()) as {
      paths: Record<string, object>;
    };
    expect(rows).toHaveLength(Object.values(paths).flatMap((path) => Object.keys(path)).length);
    await page.getByRole("cell", { name: "Save a memory", exact: true }).waitFor();
    await page.getByRole("link", { name: "Dashboard" }).waitFor();
  });
});

test("the script and the document are compressed, and the script is kept for good", async () => {
  const ask = (path: string, encoding: string) =>
    fetch(dashboard.origin + path, {
      headers: { "accept-encoding": encoding },
      decompress: false,
    });
  const page = await ask("/docs", "gzip");
  const policy = page.headers.get("content-security-policy")?.replace(/style-src-attr[^;]*/, "");
  expect(policy).not.toMatch(/(script|style)-src[^;]*unsafe|\*|https?:/);
  const [, path = ""] = /<script src="([^"]+)"/.exec(await page.text()) ?? [];
  const script = await ask(path, "gzip, br");
  expect(script.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
  expect(script.headers.get("content-encoding")).toBe("gzip");
  const bytes = await script.arrayBuffer();
  expect(bytes.byteLength).toBeLessThan(1_500_000);
  const plain = await ask(path, "identity");
  expect(plain.headers.get("content-encoding")).toBeNull();
  expect(Buffer.from(await plain.arrayBuffer()).equals(gunzipSync(bytes))).toBe(true);
  const document = await ask("/docs/json", "gzip");
  expect(JSON.parse(gunzipSync(await document.arrayBuffer()).toString())).toHaveProperty("paths");
});
