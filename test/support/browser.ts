import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { AxeResults } from "axe-core";
import {
  type Browser,
  type BrowserContext,
  type ConsoleMessage,
  chromium,
  type Page,
  type Request,
} from "playwright-core";
import {
  changeLook,
  devToolsOf,
  isInTurn,
  type Look,
  leavePage,
  newPage,
  SIZES,
  takePage,
} from "./browser-pages.ts";

export type { Page } from "playwright-core";

export { changeLook, type Look } from "./browser-pages.ts";

/**
 * Names under which distributions have Chromium, and Google's own build of it. The first has no window and none of
 * its buttons, which take a third of the processor time of the others.
 */
const NAMES = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
/** Of Chromium. This list takes the place of Playwright's own. */
const DISABLED = [
  // A quarter of what it takes to load a page: otherwise each page is drawn by a view of its own, and a process
  // waits for a page of another site.
  ...["RenderDocument", "SpareRendererForSitePerProcess"],
  // Of Playwright, without what needs a window or another host.
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades"],
  ...["HttpsFirstBalancedModeAutoEnable", "PaintHolding", "ThirdPartyStoragePartitioning"],
  ...["AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"],
];
/** Less than half as long as the one with comments, which each page would have to read. */
const AXE = readFileSync(Bun.resolveSync("axe-core/axe.min.js", import.meta.dir), "utf8");

export type TestBrowser = Awaited<ReturnType<typeof openBrowser>>;

let shared: Promise<Browser> | null = null;

/** One for all tests of this process, started by the first. */
async function sharedBrowser(): Promise<Browser> {
  shared ??= launch();
  // When a test takes too long, Bun ends the processes that it has started, and this one too.
  if (!(await shared).isConnected()) shared = launch();
  return await shared;
}

/**
 * Opens Chromium, where each page has a profile without anything of another. It finds no other host than this one, whatever a page asks for.
 * @throws when it is not installed: the tests that need it must not be left out without a word
 */
export async function openBrowser() {
  const browser = await sharedBrowser();
  const contexts: BrowserContext[] = [];

  return {
    close: async () => {
      for (const context of contexts) await context.close();
    },

    /** Opens an empty page that nothing is watched on. Closing the browser closes it. */
    async open(look: Look = {}): Promise<Page> {
      const page = await newPage(browser, look);
      contexts.push(page.context());
      return page;
    },

    /**
     * Lets somebody use the pages of a server, and fails if the console says that something is wrong
     * or if anything is asked of another host.
     * @param elsewhere origins that a person is sent to, besides the server's
     */
    async visit(
      { origin, elsewhere = [], ...look }: Look & { origin: string; elsewhere?: string[] },
      use: (page: Page) => Promise<void>,
    ): Promise<void> {
      const page = await takePage(browser, look);
      const origins = [origin, ...elsewhere];
      const watched = watch(page, origins);
      try {
        await use(page);
      } catch (error) {
        await page.context().close();
        throw error;
      }
      // What the page has said by now has come before the answer.
      await page.evaluate("try { sessionStorage.clear() } catch {}");
      watched.end();
      await leavePage(page, look, origins);
      expect(watched.problems).toEqual([]);
    },
  };
}

/** Where Chromium is, if it has one of its usual names. */
export function browserPath(): string | undefined {
  return NAMES.flatMap((name) => Bun.which(name) ?? [])[0];
}

async function launch(): Promise<Browser> {
  const executablePath = browserPath();
  try {
    return await chromium.launch({
      ...(executablePath ? { executablePath } : { channel: "chrome" }),
      args: [
        `--disable-features=${DISABLED.join()}`,
        "--disable-site-isolation-trials",
        "--disable-gpu",
        // No page lives long enough to gain from scripts that are compiled again to be faster.
        "--js-flags=--no-opt --no-maglev",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1",
      ],
    });
  } catch (cause) {
    throw new Error(
      "The browser tests need Chromium: install it, for example by `apt-get install chromium-headless-shell`.",
      { cause },
    );
  }
}

/** What goes wrong on a page without being seen, as it comes. */
function watch(page: Page, origins: readonly string[]) {
  const problems: string[] = [];
  const onRequest = (request: Request) => {
    const url = new URL(request.url());
    const isOurs = origins.includes(url.origin) || ["data:", "blob:"].includes(url.protocol);
    if (!isOurs) problems.push(`asks another host: ${url}`);
  };
  const onConsole = (message: ConsoleMessage) => {
    if (message.type() !== "error") return;
    // A page may have a status of its own, such as 404, which Chromium reports like this.
    const isPage = message.location().url === page.url();
    if (isPage && message.text().startsWith("Failed to load resource")) return;
    problems.push(`console: ${message.text()} (${message.location().url})`);
  };
  const onError = (error: Error) => void problems.push(`script: ${error}`);
  page.on("request", onRequest).on("console", onConsole).on("pageerror", onError);
  const end = () =>
    page.off("request", onRequest).off("console", onConsole).off("pageerror", onError);
  return { problems, end };
}

/** Checks what holds for every page: anyone can use it, and nothing stands out of its window. */
export async function expectSound(page: Page): Promise<void> {
  await expectSoundNow(page);
  if (!isInTurn(page)) return;
  const isNarrow = page.viewportSize()?.width === SIZES.narrow.width;
  await changeLook(page, isNarrow ? {} : { dark: true, narrow: true });
  await expectSoundNow(page);
}

async function expectSoundNow(page: Page): Promise<void> {
  // The protocol's evaluation is not subject to the page's policy.
  if (!(await page.evaluate<boolean>("'axe' in window"))) {
    // A third quicker than by the page's own evaluation, which wraps the text in another program.
    const devTools = await devToolsOf(page);
    await devTools.send("Runtime.evaluate", { expression: AXE });
  }
  // Loading stylesheets by itself is what the policy would forbid it. The size of targets (WCAG 2.2, 2.5.8) is
  // checked only when it is asked for. Nobody reads what passes, so axe does not describe it.
  const violations = await page.evaluate<AxeResults["violations"]>(
    `axe.run({ preload: false, resultTypes: ["violations"], rules: { "target-size": { enabled: true } } })
      .then(({ violations }) => violations)`,
  );
  const found = violations.map(({ id, help, nodes }) => ({
    rule: `${id}: ${help}`,
    at: nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
  }));
  expect({ url: page.url(), violations: found }).toEqual({ url: page.url(), violations: [] });
  const overhang = await page.evaluate<number>(
    "document.documentElement.scrollWidth - document.documentElement.clientWidth",
  );
  expect({ url: page.url(), overhang }).toEqual({ url: page.url(), overhang: 0 });
}
