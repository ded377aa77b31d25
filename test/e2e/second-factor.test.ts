import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { addAuthenticator } from "../support/authenticator.ts";
import {
  expectSound,
  type Look,
  openBrowser,
  type Page,
  type TestBrowser,
} from "../support/browser.ts";
import { createCodeApp } from "../support/code-app.ts";
import { follow, press, signOut } from "../support/dashboard.ts";
import { SET_UP_LINK } from "../support/server.ts";

const EMAIL = "you@example.com";
const PASSWORD = "correct horse battery";
const MINUTE = 60_000;

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

const visit = (look: Look, use: (page: Page) => Promise<void>) =>
  browser.visit({ origin: server.origin, ...look }, use);

/** Who looks without scripts is told of no axe: it is a script. */
const soundness = (look: Look) => (page: Page) =>
  look.javaScript === false ? undefined : expectSound(page);

async function signIn(page: Page, path = "/account") {
  await page.goto(server.origin + path);
  await page.getByLabel("E-mail address").fill(EMAIL);
  await page.getByLabel("Password").fill(PASSWORD);
  await press(page, "Sign in");
  await page.waitForURL((url) => url.pathname !== "/sign-in");
}

const heading = (page: Page, name: string) => page.getByRole("heading", { name }).waitFor();

/** Sets up an authenticator app on the account page. Returns the app and the recovery codes. */
async function setUpApp(
  page: Page,
  check = async (_: Page): Promise<void> => {},
  clock = server.clock,
) {
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
}

async function addPasskey(page: Page, name: string) {
  await page.goto(`${server.origin}/account/passkeys/new`);
  await page.getByLabel("Name").fill(name);
  await press(page, "Add a passkey");
}

const LOOKS: [string, Look][] = [
  ["as most have it", {}],
  ["in the dark on a narrow screen", { dark: true, narrow: true }],
  ["without JavaScript", { javaScript: false }],
];

describe("an app for codes", () => {
  test.each(LOOKS)("is set up, asked for, and stood in for, %s", async (_, look) => {
    const check = async (page: Page) => void (await soundness(look)(page));
    await visit(look, async (page) => {
      await signIn(page);
      await heading(page, "Passkeys and second factor");
      await check(page);
      const { app, codes } = await setUpApp(page, check);
      expect(codes).toHaveLength(10);
      await page.getByRole("link", { name: "I have saved them" }).click();
      await page.getByText("10 of 10 left").waitFor();
      await check(page);

      await signOut(page);
      await signIn(page, "/keys");
      await heading(page, "Second step");
      await check(page);
      await page.getByLabel("Code").fill("00 00");
      await press(page, "Use the code");
      await page.getByText("This code is wrong, or was used.").waitFor();
      await check(page);
      await page.getByLabel("Code").fill(app.code());
      await press(page, "Use the code");
      await heading(page, "API keys");

      await signOut(page);
      await signIn(page);
      await page.getByLabel("Code").fill((codes[3] ?? "").toUpperCase().replaceAll("-", " "));
      await press(page, "Use the code");
      await page.getByText("9 of 10 left").waitFor();
      await press(page, "Create new codes");
      await heading(page, "Your recovery codes");
      await page.goto(`${server.origin}/account`);
      await press(page, "Remove the app");
      await page.getByText("The authenticator app is removed.").waitFor();
      expect(await page.getByText("Recovery codes").count()).toBe(0);

      await signOut(page);
      await signIn(page);
      await heading(page, "Where you are signed in");
    });
  });
});

describe("a passkey", () => {
  test.each(LOOKS.slice(0, 2))("signs in after the password, and alone, %s", async (_, look) => {
    await visit(look, async (page) => {
      const device = await addAuthenticator(page);
      await signIn(page);
      await page.getByRole("link", { name: "Add a passkey" }).click();
      await heading(page, "Add a passkey");
      await expectSound(page);
      await addPasskey(page, "Laptop <b>");
      await heading(page, "Your recovery codes");
      expect(await device.credentials()).toHaveLength(1);
      await page.getByRole("link", { name: "I have saved them" }).click();
      await page.getByRole("rowheader", { name: "Laptop <b>" }).waitFor();
      await expectSound(page);

      await signOut(page);
      await signIn(page, "/keys");
      await heading(page, "Second step");
      await expectSound(page);
      await press(page, "Use a passkey");
      await heading(page, "API keys");

      await signOut(page);
      await page.goto(`${server.origin}/memories`);
      await page.getByRole("link", { name: "Sign in with a passkey" }).click();
      await heading(page, "Sign in with a passkey");
      await expectSound(page);
      await press(page, "Use a passkey");
      await heading(page, "Memories");

      await addPasskey(page, "Once more");
      await page.getByText("This device already has a passkey for your account.").waitFor();
      await expectSound(page);

      await page.goto(`${server.origin}/account`);
      await press(page, "Remove the password");
      await page.getByText("Your password is removed.").waitFor();
      await press(page, "Remove the passkey Laptop <b>");
      await page.getByText("this is your only way in").waitFor();

      await signOut(page);
      await page.getByLabel("E-mail address").fill(EMAIL);
      await page.getByLabel("Password").fill(PASSWORD);
      await press(page, "Sign in");
      await page.getByText("E-mail address or password is wrong.").waitFor();
      await page.getByRole("link", { name: "Sign in with a passkey" }).click();
      await press(page, "Use a passkey");
      await page.getByRole("heading", { name: "Overview" }).waitFor();
    });
  });

  test("that is lost without a password is stood in for by a recovery code", async () => {
    await visit({}, async (page) => {
      await addAuthenticator(page);
      await signIn(page);
      await addPasskey(page, "Phone");
      await heading(page, "Your recovery codes");
      const [code = ""] = ((await page.locator("pre").textContent()) ?? "").split("\n");
      await page.goto(`${server.origin}/account`);
      await press(page, "Remove the password");
      await page.getByText("Your password is removed.").waitFor();
      await signOut(page);
      await page.getByRole("link", { name: "Sign in with a passkey" }).click();
      await page.getByRole("link", { name: "Use a recovery code" }).click();
      await expectSound(page);
      await page.getByLabel("E-mail address").fill(EMAIL);
      await page.getByLabel("Recovery code").fill("0000-0000-0000-0000");
      await press(page, "Sign in");
      await page.getByText("E-mail address or recovery code is wrong.").waitFor();
      await expectSound(page);
      await page.getByLabel("Recovery code").fill(code);
      await press(page, "Sign in");
      await page.getByText("9 of 10 left").waitFor();
      await page.getByLabel("New password").fill(PASSWORD);
      await press(page, "Set password");
      await page.getByText("Your password is changed.").waitFor();
    });
  });

  test("that its user can't unlock signs in nobody, and is said to be missing", async () => {
    await visit({}, async (page) => {
      const device = await addAuthenticator(page);
      await signIn(page);
      await addPasskey(page, "Laptop");
      await heading(page, "Your recovery codes");
      await page.goto(`${server.origin}/account`);
      await signOut(page);
      await device.setVerified(false);
      await page.getByRole("link", { name: "Sign in with a passkey" }).click();
      await press(page, "Use a passkey");
      await page.getByText("No passkey was used").waitFor();
      await expectSound(page);
    });
  });

  test("is said to need JavaScript where none runs, and the code is there", async () => {
    await visit({}, async (page) => {
      await addAuthenticator(page);
      await signIn(page);
      await addPasskey(page, "Laptop");
      await heading(page, "Your recovery codes");
      const [code = ""] = ((await page.locator("pre").textContent()) ?? "").split("\n");
      await visit({ javaScript: false }, async (plain) => {
        await signIn(plain, "/account");
        await heading(plain, "Second step");
        await plain.getByText("A passkey needs JavaScript").waitFor();
        expect(await plain.getByRole("button", { name: "Use a passkey" }).count()).toBe(0);
        await plain.getByLabel("Recovery code").fill(code);
        await press(plain, "Use the code");
        await heading(plain, "Where you are signed in");
        await plain.getByRole("link", { name: "Add a passkey" }).click();
        await plain.getByText("A passkey needs JavaScript").waitFor();
      });
    });
  });
});

describe("a fresh proof", () => {
  test.each(LOOKS)("is asked for before a key is made, which then is made, %s", async (_, look) => {
    const check = async (page: Page) => void (await soundness(look)(page));
    await visit(look, async (page) => {
      await signIn(page, "/keys");
      server.clock.advance(11 * MINUTE);
      await page.getByLabel("Name").fill("of a patient person");
      await press(page, "Create key");
      await heading(page, "Is it you?");
      await check(page);
      await page.getByLabel("Password").fill("a wrong password");
      await press(page, "Go on");
      await page.getByRole("alert").waitFor();
      await check(page);
      expect(await server.keys.list(accountId)).toEqual([]);
      await page.getByLabel("Password").fill(PASSWORD);
      await press(page, "Go on");
      await page.getByText("The key is shown only once.").waitFor();
      expect((await server.keys.list(accountId)).map(({ name }) => name)).toEqual([
        "of a patient person",
      ]);

      server.clock.advance(9 * MINUTE);
      await page.goto(`${server.origin}/connect`);
      await page.getByRole("link", { name: "curl", exact: true }).click();
      await press(page, "Create a key and insert it");
      await page.getByText("It is shown only once").waitFor();
      server.clock.advance(2 * MINUTE);
      await page.reload();
      await press(page, "Create a key and insert it");
      await heading(page, "Is it you?");
    });
  });

  test("is given by a passkey or a code, and not by the password, where there is one", async () => {
    await visit({}, async (page) => {
      await addAuthenticator(page);
      await signIn(page);
      const { app } = await setUpApp(page);
      await addPasskey(page, "Laptop");
      await page.getByText("The passkey is added.").waitFor();
      for (const way of ["passkey", "code"]) {
        server.clock.advance(11 * MINUTE);
        await page.goto(`${server.origin}/keys`);
        await page.getByLabel("Name").fill(way);
        await press(page, "Create key");
        await heading(page, "Is it you?");
        await expectSound(page);
        expect(await page.getByLabel("Password").count()).toBe(0);
        if (way === "passkey") await press(page, "Use a passkey");
        else {
          await page.getByLabel("Code").fill(app.code());
          await press(page, "Use the code");
        }
        await page.getByText("The key is shown only once.").waitFor();
      }
      expect((await server.keys.list(accountId)).map(({ name }) => name)).toEqual([
        "passkey",
        "code",
      ]);
    });
  });

  test("is asked for before an export, which then is there for ten minutes", async () => {
    await (await server.client(accountId)).save({ content: "Sam plays the cello" });
    await visit({}, async (page) => {
      await signIn(page, "/memories");
      await heading(page, "Memories");
      server.clock.advance(11 * MINUTE);
      await page.getByRole("link", { name: "Export" }).click();
      await heading(page, "Is it you?");
      await expectSound(page);
      await page.getByLabel("Password").fill(PASSWORD);
      await press(page, "Go on");
      await heading(page, "Export memories");
      await expectSound(page);
      const download = page.waitForEvent("download");
      await page.getByRole("link", { name: "Download the file" }).click();
      expect(await Bun.file((await (await download).path()) ?? "").text()).toContain("cello");
    });
  });
});

test.each(LOOKS)(
  "from the first start to the consent for an app, with a second factor, %s",
  async (_, look) => {
    const check = async (page: Page) => void (await soundness(look)(page));
    await using fresh = await startOAuthServer();
    const { client_id: clientId } = await fresh.register();
    await browser.visit({ origin: fresh.origin, ...look }, async (page) => {
      await page.goto(fresh.origin + SET_UP_LINK);
      await check(page);
      await page.getByLabel("E-mail address").fill(EMAIL);
      await page.getByLabel("Password").fill(PASSWORD);
      await press(page, "Make my account");
      await page.getByRole("link", { name: "Skip to the overview" }).click();
      await follow(page, "Account");
      const { app } = await setUpApp(page, check, fresh.clock);
      await page.getByRole("link", { name: "I have saved them" }).click();
      await signOut(page);
      await heading(page, "Sign in");

      await page.goto(fresh.authorizeUrl(clientId));
      await page.getByLabel("E-mail address").fill(EMAIL);
      await page.getByLabel("Password").fill(PASSWORD);
      await press(page, "Sign in");
      await heading(page, "Second step");
      await check(page);
      await page.getByLabel("Code").fill(app.code());
      await press(page, "Use the code");
      await page.getByRole("button", { name: "Allow" }).waitFor();
      await check(page);

      fresh.clock.advance(11 * MINUTE);
      await press(page, "Allow");
      await heading(page, "Is it you?");
      await check(page);
      await page.getByLabel("Code").fill(app.code());
      await press(page, "Use the code");
      await page.getByRole("button", { name: "Deny" }).waitFor();
      expect(await fresh.oauth.grants.listOfAllAccounts()).toEqual([]);
    });
  },
);
