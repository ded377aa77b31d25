import type { Browser, CDPSession, Page } from "playwright-core";
import { until } from "./until.ts";

/** How a person looks at the pages. */
export interface Look {
  /** Whether scripts run. Default: true. */
  javaScript?: boolean;
  dark?: boolean;
  /** A screen of 360 pixels, as of a small phone. */
  narrow?: boolean;
  /** Twice as large in a window of the usual size. */
  zoomed?: boolean;
  /**
   * In the light on a wide screen and in the dark on a narrow one, in turn: each check of the page is made in both,
   * and the person goes on in the second. Cheaper than walking the same way twice.
   */
  inTurn?: boolean;
  /** In a profile that nobody has used: stylesheets, scripts and fonts are not there yet. */
  isNew?: boolean;
}

export const SIZES = {
  wide: { width: 1280, height: 900 },
  narrow: { width: 360, height: 740 },
  /** As many CSS pixels as are left at 200 %. */
  zoomed: { width: 640, height: 450 },
};
/** Milliseconds that a page may take to show something on a busy machine. */
const TIMEOUT_MS = 60_000;

/** Pages that nobody looks at now, by what a page can't change. */
const idle = new Map<string, Page[]>();
/** Pages that are looked at in turn. */
const inTurnPages = new WeakSet<Page>();
/** What visits have begun to say to the pages' browser. */
const sessions = new WeakMap<Page, Promise<CDPSession>>();

export const sizeOf = ({ narrow, zoomed }: Look) =>
  SIZES[narrow ? "narrow" : zoomed ? "zoomed" : "wide"];
export const isInTurn = (page: Page) => inTurnPages.has(page);
const coloursOf = ({ dark }: Look) => (dark ? "dark" : "light");
const kindOf = ({ javaScript = true, zoomed = false }: Look) => `${javaScript} ${zoomed}`;

/** An empty page in a profile of its own. */
export async function newPage(browser: Browser, look: Look): Promise<Page> {
  const context = await browser.newContext({
    javaScriptEnabled: look.javaScript ?? true,
    colorScheme: coloursOf(look),
    viewport: sizeOf(look),
    deviceScaleFactor: look.zoomed ? 2 : 1,
    locale: "en-GB",
    timezoneId: "UTC",
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  const page = await context.newPage();
  if (look.inTurn) inTurnPages.add(page);
  return page;
}

/**
 * An empty page for a visit: that of an earlier visit, if one is over. For another profile Chromium starts
 * a process that compiles all scripts again, which takes as long as two pages do.
 */
export async function takePage(browser: Browser, look: Look): Promise<Page> {
  const page = look.isNew ? undefined : idle.get(kindOf(look))?.pop();
  // A browser that has ended has closed its pages.
  if (!page || page.isClosed()) return newPage(browser, look);
  if (look.inTurn) inTurnPages.add(page);
  else inTurnPages.delete(page);
  await changeLook(page, look);
  return page;
}

/** Leaves a page for the next visit, without all that this one has kept in its profile. */
export async function leavePage(page: Page, look: Look, origins: readonly string[]) {
  const context = page.context();
  if (context.pages().length > 1) return context.close();
  await page.goto("about:blank");
  // Nothing of the next page is under the pointer.
  await page.mouse.move(0, 0);
  const devTools = await devToolsOf(page);
  for (const origin of origins) {
    await devTools.send("Storage.clearDataForOrigin", { origin, storageTypes: "all" });
  }
  // Its devices with passkeys go too.
  await devTools.detach();
  sessions.delete(page);
  await context.clearCookies();
  await context.clearPermissions();
  idle.set(kindOf(look), [...(idle.get(kindOf(look)) ?? []), page]);
}

/** The protocol of a page's browser, until the visit is over. */
export function devToolsOf(page: Page): Promise<CDPSession> {
  const session = sessions.get(page) ?? page.context().newCDPSession(page);
  sessions.set(page, session);
  return session;
}

/** Shows an open page in other colours and another size, without loading it again. */
export async function changeLook(page: Page, look: Look): Promise<void> {
  const size = sizeOf(look);
  const colorScheme = coloursOf(look);
  await page.emulateMedia({ colorScheme });
  await page.setViewportSize(size);
  // Playwright's own wait evaluates a text again in the page, whose policy forbids it.
  await until("the page has its look", () =>
    page.evaluate<boolean>(
      `innerWidth === ${size.width} && matchMedia("(prefers-color-scheme: ${colorScheme})").matches`,
    ),
  );
}
