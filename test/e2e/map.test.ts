import { afterAll, beforeAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import { type Dashboard, startDashboard } from "../support/dashboard.ts";
import { until } from "../support/until.ts";

const TIMEOUT = 120_000;
const TIP = ".map-tip:not(:empty)";

let dashboard: Dashboard;
let accountId: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  ({ id: accountId } = await dashboard.accounts.add({
    email: "you@example.com",
    password: "correct horse",
  }));
  const subjects = ["invoice taxes", "garden roses", "football goals"];
  const memories = Array.from({ length: 60 }, (_, number) => ({
    content: `${subjects[number % 3]} ${subjects[number % 3]} note${number}`,
    project: subjects[number % 3]?.split(" ")[0] ?? "",
    tags: ["notes"],
  }));
  await dashboard.memories.saveAll(wholeAccount(accountId), memories);
});
afterAll(() => dashboard?.close());

const visit = (use: (page: Page) => Promise<void>, look?: Look) =>
  dashboard.visitAs(
    accountId,
    async (page) => {
      await page.goto(`${dashboard.origin}/map`);
      await use(page);
    },
    look,
  );

/** The number of pixels of the map with the colour of a group, given by its bit. */
const coloured = (page: Page, bit: number) =>
  page.evaluate<number>(`(() => {
    const probe = document.createElement("span");
    probe.className = "hue-${bit + 1}";
    document.body.append(probe);
    const wanted = getComputedStyle(probe).backgroundColor.match(/\\d+/g).map(Number);
    probe.remove();
    const canvas = document.querySelector("canvas");
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let at = 0; at < data.length; at += 4) {
      const far = Math.max(...wanted.map((value, channel) => Math.abs(value - data[at + channel])));
      if (far < 45) found++;
    }
    return found;
  })()`);

/** Waits until the map has pixels of a colour, or has none any more. */
const waitForColour = (page: Page, bit: number, isShown: boolean) =>
  until("the map has its colours", async () => (await coloured(page, bit)) > 0 === isShown);

test.each<[string, Look]>([
  ["in the light", {}],
  ["in the dark on a phone", { dark: true, narrow: true }],
  ["zoomed to 200 %", { zoomed: true }],
])(
  "the map is drawn and anyone can use it, %s",
  async (_, look) => {
    await visit(async (page) => {
      for (const bit of [0, 1, 2]) await waitForColour(page, bit, true);
      await expectSound(page);
    }, look);
  },
  TIMEOUT,
);

test(
  "keys go from memory to memory, show each text and open it",
  async () => {
    await visit(async (page) => {
      await waitForColour(page, 0, true);
      await page.locator("canvas").focus();
      await page.keyboard.press("j");
      const first = await page.locator(`${TIP} a`).textContent();
      expect(first).toContain("note");
      await page.keyboard.press("j");
      await page
        .locator(TIP)
        .filter({ hasNotText: first ?? "" })
        .waitFor();
      await page.keyboard.press("k");
      await page
        .locator(TIP)
        .filter({ hasText: first ?? "" })
        .waitFor();
      await expectSound(page);
      await page.keyboard.press("+");
      await page.locator(TIP).waitFor({ state: "hidden" });
      await page.keyboard.press("0");
      await page.keyboard.press("j");
      await page.keyboard.press("Enter");
      await page.waitForURL(/\/memories\/mem_/);
    });
  },
  TIMEOUT,
);

test(
  "pointing at a memory shows its text, and a click opens it",
  async () => {
    await visit(async (page) => {
      await waitForColour(page, 0, true);
      const canvas = page.locator("canvas");
      // The tip of the chosen point tells where the point is.
      await canvas.focus();
      await page.keyboard.press("j");
      await page.locator(TIP).waitFor();
      const { x, y } = await page.evaluate<{ x: number; y: number }>(`(() => {
        const { style } = document.querySelector(".map-tip");
        const { left, top, width, height } = document.querySelector("canvas").getBoundingClientRect();
        return {
          x: style.left ? left + parseFloat(style.left) - 12 : left + width - parseFloat(style.right) + 12,
          y: style.top ? top + parseFloat(style.top) - 12 : top + height - parseFloat(style.bottom) + 12,
        };
      })()`);
      await page.keyboard.press("Escape");
      await page.mouse.move(x + 1, y + 1);
      await page.locator(`${TIP} p`).filter({ hasText: "note" }).waitFor();
      await page.mouse.click(x + 1, y + 1);
      await page.waitForURL(/\/memories\/mem_/);
      expect(await page.getByRole("heading", { name: "Memory", exact: true }).count()).toBe(1);
    });
  },
  TIMEOUT,
);

test(
  "a group can be hidden on the map, and a topic shown",
  async () => {
    await visit(async (page) => {
      await waitForColour(page, 1, true);
      const box = page.getByRole("checkbox", { name: "Show garden" });
      const bit = Number(await page.locator("[data-bit]", { has: box }).getAttribute("data-bit"));
      await box.uncheck();
      await page.mouse.move(0, 0);
      await waitForColour(page, bit, false);
      await waitForColour(page, (bit + 1) % 3, true);
      await box.check();
      await waitForColour(page, bit, true);
      await page
        .getByRole("button", { name: /^Show .* on the map$/ })
        .first()
        .click();
      expect(await page.evaluate("document.activeElement.tagName")).toBe("CANVAS");
      await page.getByRole("link", { name: "Tag", exact: true }).click();
      await page.getByRole("checkbox", { name: "Show notes" }).waitFor();
    });
  },
  TIMEOUT,
);

test("without scripts there is no map, but all other parts", async () => {
  await visit(
    async (page) => {
      expect(await page.locator("canvas").isVisible()).toBe(false);
      await page
        .getByRole("link", { name: /^garden roses/ })
        .first()
        .waitFor();
      await page.getByRole("link", { name: "Tag", exact: true }).click();
      await page.getByRole("link", { name: "notes", exact: true }).waitFor();
    },
    { javaScript: false },
  );
});
