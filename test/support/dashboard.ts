import { UNDO_MS } from "../../src/undo/undoable.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { type Look, openBrowser, type Page } from "./browser.ts";

export type Dashboard = Awaited<ReturnType<typeof startDashboard>>;

/** The real server, and a browser in which people use its pages. */
export async function startDashboard(options: Parameters<typeof startOAuthServer>[0] = {}) {
  const [server, browser] = await Promise.all([startOAuthServer(options), openBrowser()]);
  const { origin } = server;

  return {
    ...server,
    browser,

    /** Lets the person of an account use the pages, signed in. */
    visitAs: (accountId: string, use: (page: Page) => Promise<void>, look: Look = {}) =>
      browser.visit({ origin, ...look }, async (page) => {
        const value = await server.sessions.begin(accountId);
        await page.context().addCookies([{ name: "ctxd-session", value, url: origin }]);
        await use(page);
      }),

    /** Has what waits to be undone be carried out, as ten seconds later. */
    async applyDue(): Promise<void> {
      server.clock.advance(UNDO_MS);
      await server.undoable.applyDue();
    },

    close: async () => {
      await browser.close();
      await server.close();
    },
  };
}

/** Presses a button, on the page or in the dialog that has opened. */
export function press(page: Page, name: string): Promise<void> {
  return page.getByRole("button", { name }).last().click();
}

/** Goes to a page by the navigation, which is behind a button on a narrow screen. */
export async function follow(page: Page, name: string): Promise<void> {
  await openMenu(page);
  await page.getByRole("link", { name, exact: true }).click();
}

/** Ends the session, by the button below the navigation. */
export async function signOut(page: Page): Promise<void> {
  await openMenu(page);
  await press(page, "Sign out");
}

async function openMenu(page: Page): Promise<void> {
  const menu = page.getByRole("button", { name: "Menu" });
  await page.locator("nav[aria-label=Main]").waitFor({ state: "attached" });
  if (await menu.isVisible()) await menu.click();
}
