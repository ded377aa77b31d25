import { afterAll, beforeAll, expect, test } from "bun:test";
import { projectPath } from "../../src/dashboard/navigation.tsx";
import { wholeAccount } from "../../src/keys/reach.ts";
import { changeLook, expectSound, type Page } from "../support/browser.ts";
import { devToolsOf } from "../support/browser-pages.ts";
import { type Dashboard, startDashboard } from "../support/dashboard.ts";

/** Milliseconds for visiting all pages in three looks on a busy machine. */
const TIMEOUT = 240_000;
/** Presses of Tab that are more than enough to reach every element of a page. */
const MOST_STOPS = 400;
const PRESSES_AT_ONCE = 20;

/** A shift below this value is not noticed. The layout-shift score (CLS) is good up to 0.1. */
const MOST_SHIFT = 0.02;

const GERMAN = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft";
const ARABIC = "سام لديه حساسية من الفول السوداني، ويشرب الشاي الأخضر كل صباح قبل العمل.";
/** Very long words: a hash, an address. */
const ENDLESS = `https://example.com/${"a1b2c3d4".repeat(40)}`;

let dashboard: Dashboard;
let accountId: string;
let paths: string[];

beforeAll(async () => {
  dashboard = await startDashboard();
  ({ id: accountId } = await dashboard.accounts.add({
    email: `${"langer-name".repeat(5)}@donaudampfschifffahrt.example.com`,
    password: "correct horse",
  }));
  const memories = [GERMAN, ARABIC, ENDLESS].map((content, index) => ({
    content: `${content} ${index} ${content}`,
    tags: [content.slice(0, 64).replaceAll(/[,،]/g, " ").trim()],
    project: content.slice(0, 100),
    agent_id: content.slice(0, 100),
    session_id: "one session",
  }));
  const whole = wholeAccount(accountId);
  const saved = await dashboard.memories.saveAll(whole, memories, {
    source: { via: "mcp", by: GERMAN, id: "key_1" },
  });
  const id = saved[1]?.id ?? "";
  const former = saved[0]?.id ?? "";
  await dashboard.memories.saveAll(whole, [{ content: ARABIC, supersedes: former }]);
  const { record } = await dashboard.keys.create(accountId, {
    name: GERMAN,
    scopes: ["memories:read"],
    expiresAt: null,
    bound: { project: memories[1]?.project ?? "", only: false },
  });
  await dashboard.keys.pause(accountId, record.id, true);
  const asked = { accountId, kind: "searched", memories: 1, memoryId: id } as const;
  for (const text of [GERMAN, ARABIC, ENDLESS]) {
    const source = { id: record.id, by: text };
    dashboard.activity.record({ ...asked, source, agent: text.slice(0, 100), query: text });
  }
  await dashboard.activity.keepQueries(accountId, true);
  await dashboard.activity.flush();
  const space = await dashboard.spaces.create(accountId, GERMAN.slice(0, 64));
  await dashboard.spaces.change(accountId, space.id, { projects: [GERMAN, ARABIC.slice(0, 100)] });
  paths = [
    "/",
    "/memories",
    "/activity",
    "/memories?q=Fahrt",
    "/memories?q=%D8%B4%D8%A7%D9%8A",
    `/memories/${id}`,
    `/memories/${former}`,
    "/memories/new",
    "/map",
    "/connect",
    "/welcome",
    "/welcome/ask?q=Fahrt",
    "/projects",
    projectPath(memories[1]?.project ?? ""),
    "/agents",
    "/keys",
    "/account",
    "/admin",
    `/admin/accounts/${accountId}`,
    "/spaces",
    `/spaces/${space.id}`,
    "/admin/spaces",
    `/admin/spaces/${space.id}`,
    "/admin/security",
    "/admin/backups",
    "/admin/health",
    "/help/search",
  ];
});
afterAll(() => dashboard?.close());

test("on a phone the button Copy covers no text", async () => {
  const check = async (page: Page) => {
    await page.goto(`${dashboard.origin}/connect`);
    await page.locator(".copyable-text button:visible").first().waitFor();
    const overlaps = await page.locator(".copyable-text:has(button:visible)").evaluateAll((boxes) =>
      boxes.map((box) => {
        const text = box.querySelector("pre")?.getBoundingClientRect();
        const button = box.querySelector("button")?.getBoundingClientRect();
        return (text?.bottom ?? 0) - (button?.top ?? 0);
      }),
    );
    expect(Math.max(...overlaps)).toBeLessThanOrEqual(0);
  };
  await dashboard.visitAs(accountId, check, { narrow: true });
});

test("Arabic is written from the right", async () => {
  await dashboard.visitAs(accountId, async (page) => {
    await page.goto(`${dashboard.origin}/memories`);
    const direction = await page
      .getByText(ARABIC.slice(0, 20))
      .first()
      .evaluate(
        (element) => element.ownerDocument.defaultView?.getComputedStyle(element).direction,
      );
    expect(direction).toBe("rtl");
  });
});

/** What moves although the person wants reduced motion. */
const MOVING = `[...document.querySelectorAll("*")].filter((element) => {
  const { transitionDuration, animationName, scrollBehavior } = getComputedStyle(element);
  return !/^0s(, 0s)*$/.test(transitionDuration) || animationName !== "none" || scrollBehavior === "smooth";
}).map(({ outerHTML }) => outerHTML.slice(0, 200))`;

/** The layout shifts since the page began to load, after it has loaded. */
const SHIFTS = `new Promise((resolve) => {
  const shifts = [];
  new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: "layout-shift", buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() =>
    resolve(shifts.reduce((sum, { value }) => sum + value, 0))));
})`;

/** The focused element: its beginning, and problems of its visibility. */
const FOCUSED = `(() => {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  const boxes = [...element.getClientRects()];
  const corners = boxes.flatMap(({ left, right, top, bottom }) => [
    [(left + right) / 2, (top + bottom) / 2], [left + 2, top + 2], [right - 2, bottom - 2],
  ]);
  const isSeen = corners.some(([x, y]) => {
    const hit = document.elementFromPoint(x, y);
    return hit && (element.contains(hit) || hit.contains(element) || hit.closest("label")?.contains(element));
  });
  return {
    what: element.outerHTML.slice(0, 160),
    problems: [
      ...(outlineStyle === "none" || outlineWidth === "0px" ? ["no outline"] : []),
      ...(isSeen ? [] : ["hidden"]),
    ],
  };
})()`;

/** Goes through a page by Tab. */
async function tabThrough(page: Page, path: string): Promise<void> {
  const links = await page.locator("main a:visible, main button:visible").count();
  await page.evaluate(`focused = []; addEventListener("keyup", () => focused.push(${FOCUSED}))`);
  const devTools = await devToolsOf(page);
  const key = { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 };
  let stops: ({ what: string; problems: string[] } | null)[] = [];
  while (stops.length < MOST_STOPS && !stops.includes(null)) {
    // The driver would wait for an answer to each press, which takes longer than the press.
    const presses = Array.from({ length: PRESSES_AT_ONCE }, () => [
      devTools.send("Input.dispatchKeyEvent", { ...key, type: "rawKeyDown" }),
      devTools.send("Input.dispatchKeyEvent", { ...key, type: "keyUp" }),
    ]);
    await Promise.all(presses.flat());
    stops = await page.evaluate("focused");
  }
  const seen = new Set<string>();
  for (const focused of stops) {
    // The end of the page.
    if (!focused) break;
    expect({ path, ...focused }).toEqual({ path, what: focused.what, problems: [] });
    seen.add(focused.what);
  }
  expect(seen.size).toBeGreaterThan(Math.min(links / 2, 5));
  expect(seen.size).toBeLessThan(MOST_STOPS);
}

test(
  "words have room on a phone and zoomed to 200 %, nothing moves, Tab leads everywhere, and what has the focus is seen (WCAG 2.2, 2.4.7 and 2.4.11)",
  async () => {
    // While one page waits for the network to be idle, the other is walked through.
    const walk = (part: number) =>
      dashboard.visitAs(
        accountId,
        async (page) => {
          for (const path of paths.filter((_, at) => at % 2 === part)) await checkPage(page, path);
        },
        { isNew: true },
      );
    await Promise.all([walk(0), walk(1)]);
  },
  TIMEOUT,
);

async function checkPage(page: Page, path: string): Promise<void> {
  await page.goto(dashboard.origin + path, { waitUntil: "networkidle" });
  const shift = await page.evaluate<number>(SHIFTS);
  expect({ path, moved: shift >= MOST_SHIFT }).toEqual({ path, moved: false });
  expect({ path, moving: await page.evaluate(MOVING) }).toEqual({ path, moving: [] });
  for (const look of [{ narrow: true }, { zoomed: true }]) {
    await changeLook(page, look);
    await expectSound(page);
  }
  await changeLook(page, {});
  await tabThrough(page, path);
}
