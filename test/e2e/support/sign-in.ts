import { afterAll, beforeAll, beforeEach } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../../oauth/support/oauth-server.ts";
import {
  expectSound,
  type Look,
  openBrowser,
  type Page,
  type TestBrowser,
} from "../../support/browser.ts";
import { createCodeApp } from "../../support/code-app.ts";
import { press } from "../../support/dashboard.ts";

export const EMAIL = "you@example.com";
export const PASSWORD = "correct horse battery";
export const MINUTE = 60_000;

export const LOOKS: [string, Look][] = [
  ["with scripts", { inTurn: true }],
  ["without JavaScript", { javaScript: false }],
];

/** A function that checks the accessibility of a page. Without scripts it does nothing, as axe is a script. */
export const soundness =
  (look: Look) =>
  async (page: Page): Promise<void> => {
    if (look.javaScript !== false) await expectSound(page);
  };

export const heading = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor();

/** A browser for all tests of a file, and for each test a new server with one account. */
export function useSignIn() {
  let browser: TestBrowser;
  let server: OAuthServer;
  let accountId: string;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    await server?.close();
    server = await startOAuthServer();
    ({ id: accountId } = await server.accounts.add({ email: EMAIL, password: PASSWORD }));
  });
  afterAll(() => server?.close());

  return {
    browser: () => browser,
    server: () => server,
    accountId: () => accountId,

    visit: (look: Look, use: (page: Page) => Promise<void>) =>
      browser.visit({ origin: server.origin, ...look }, use),

    /** Signs in with the password and opens a page. */
    async signIn(page: Page, path = "/account") {
      await page.goto(server.origin + path);
      await page.getByLabel("E-mail address").fill(EMAIL);
      await page.getByLabel("Password").fill(PASSWORD);
      await press(page, "Sign in");
      await page.waitForURL((url) => url.pathname !== "/sign-in");
    },

    /** Sets up an authenticator app on the account page. Returns the app and the recovery codes. */
    async setUpApp(page: Page, check = async (_: Page): Promise<void> => {}, clock = server.clock) {
      await press(page, "Set up an authenticator app");
      await heading(page, "Set up an authenticator app");
      await check(page);
      const secret = (await page.locator(".copyable code").textContent()) ?? "";
      const app = createCodeApp(secret, clock);
      await page.getByLabel("Code").fill(app.code(2) === "000000" ? "111111" : "000000");
      await press(page, "Use this app");
      await page.getByText("This code is wrong. Enter the code that the app shows now.").waitFor();
      await page.getByLabel("Code").fill(app.code());
      await press(page, "Use this app");
      await heading(page, "Your recovery codes");
      await check(page);
      const codes = ((await page.locator("pre").textContent()) ?? "").split("\n");
      clock.advance(MINUTE);
      return { app, codes };
    },

    /** Adds a passkey with the browser's authenticator. */
    async addPasskey(page: Page, name: string) {
      await page.goto(`${server.origin}/account/passkeys/new`);
      await page.getByLabel("Name").fill(name);
      await press(page, "Add a passkey");
    },
  };
}
