import { afterAll, beforeAll, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson } from "../oauth/support/person.ts";
import {
  expectSound,
  type Look,
  openBrowser,
  type Page,
  type TestBrowser,
} from "../support/browser.ts";
import { follow, press, signOut } from "../support/dashboard.ts";
import { SET_UP_LINK } from "../support/server.ts";

const EMAIL = "you@example.com";
const PASSWORD = "correct horse battery";
const NEXT_PASSWORD = "another horse battery";

let browser: TestBrowser;
beforeAll(async () => {
  browser = await openBrowser();
});
afterAll(() => browser?.close());

const LOOKS: [string, Look][] = [
  ["in the dark on a narrow screen", { dark: true, narrow: true }],
  ["without JavaScript", { javaScript: false }],
];

async function signIn(page: Page, password: string) {
  await page.getByLabel("E-mail address").fill(EMAIL);
  await page.getByLabel("Password").fill(password);
  await press(page, "Sign in");
}

test.each(LOOKS)(
  "first start with the set-up link, an invitation, and removing the account, %s",
  async (_, look) => {
    await using server = await startOAuthServer();
    const { origin } = server;
    const check = (page: Page) => (look.javaScript === false ? undefined : expectSound(page));
    await browser.visit({ origin, ...look }, async (owner) => {
      await owner.goto(origin);
      await owner.getByText("the link that the server printed when it started").waitFor();
      await owner.goto(`${origin}${SET_UP_LINK}`);
      await owner.getByLabel("E-mail address").fill(EMAIL);
      await owner.getByLabel("Password").fill(PASSWORD);
      await press(owner, "Create my account");
      await owner.getByRole("link", { name: "Skip to the overview" }).click();
      await owner.getByRole("heading", { name: "Overview" }).waitFor();
      await follow(owner, "Admin");
      await owner.getByLabel("E-mail address").fill("ada@example.com");
      await press(owner, "Create a link");
      const link = (await owner.locator(".copyable code").textContent()) ?? "";
      await check(owner);

      await browser.visit({ origin, ...look }, async (ada) => {
        await ada.goto(link);
        await ada.getByText("ada@example.com").waitFor();
        await check(ada);
        await ada.getByLabel("Password").fill(PASSWORD);
        await press(ada, "Create my account");
        await ada.getByRole("heading", { name: "Overview" }).waitFor();
        expect(await ada.locator("nav a[href='/admin']").count()).toBe(0);
        await ada.goto(link);
        await ada.getByText("This invitation is not valid").waitFor();

        await follow(owner, "Admin");
        await owner.getByRole("link", { name: "ada@example.com" }).click();
        await owner.getByRole("link", { name: "Remove the account" }).click();
        await owner.getByText("memories: 0").waitFor();
        await check(owner);
        await press(owner, "Remove the account permanently");
        await owner.getByText("ada@example.com is removed").waitFor();
        await ada.goto(`${origin}/account`);
        await ada.getByRole("heading", { name: "Sign in" }).waitFor();
      });
      await signOut(owner);
      await owner.getByRole("heading", { name: "Sign in" }).waitFor();
    });
  },
);

test.each(LOOKS)(
  "changing the password signs out everyone who used the old one, %s",
  async (_, look) => {
    await using server = await startOAuthServer();
    const { origin } = server;
    await server.accounts.add({ email: EMAIL, password: PASSWORD });
    const isOut = async (page: Page) => {
      await page.goto(`${origin}/keys`);
      await page.getByRole("heading", { name: "Sign in" }).waitFor();
    };
    await browser.visit({ origin, ...look }, async (you) => {
      await browser.visit({ origin, ...look }, async (eve) => {
        await isOut(eve);
        await signIn(eve, PASSWORD);
        await eve.getByRole("heading", { name: "API keys" }).waitFor();

        await you.goto(`${origin}/account`);
        await signIn(you, PASSWORD);
        await you.getByLabel("Current password").fill(PASSWORD);
        expect(await you.locator("tbody tr").count()).toBe(2);
        await you.getByLabel("New password").fill(NEXT_PASSWORD);
        await press(you, "Change password");
        await you.getByText("Your password is changed.").waitFor();
        expect(await you.locator("tbody tr").count()).toBe(1);

        await isOut(eve);
        await signIn(eve, PASSWORD);
        await eve.getByText("E-mail address or password is wrong.").waitFor();
        await signIn(eve, NEXT_PASSWORD);
        await eve.getByRole("heading", { name: "API keys" }).waitFor();
        await you.goto(`${origin}/account`);
        await press(you, "Sign out everywhere else");
        await you.getByText("Signed out in one other browser.").waitFor();
        await isOut(eve);
      });
    });
  },
);

test("password guesses are slowed down", async () => {
  await using server = await startOAuthServer();
  await server.accounts.add({ email: EMAIL, password: PASSWORD });
  await browser.visit({ origin: server.origin }, async (page) => {
    await page.goto(`${server.origin}/sign-in`);
    await signIn(page, "short");
    await page.getByRole("alert").waitFor();
    // The other guesses take less time without the page.
    const eve = createPerson(server.origin);
    for (let count = 1; count < 10; count++) {
      const form = await eve.visit("/sign-in");
      const { text } = await eve.submit(form, { email: EMAIL, password: "short" });
      expect(text).toContain("E-mail address or password is wrong.");
    }
    await signIn(page, PASSWORD);
    await page.getByText("Too many tries. Try again in 2 minutes.").waitFor();
    await expectSound(page);
    server.clock.advance(120_000);
    await signIn(page, PASSWORD);
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });
});

test("a confirmation opens as a dialog, closes with Escape, and returns the focus", async () => {
  await using server = await startOAuthServer();
  const { id } = await server.accounts.add({ email: EMAIL, password: PASSWORD });
  await server.keys.create(id, { name: "laptop", scopes: ["memories:read"], expiresAt: null });
  const session = await server.sessions.begin(id);
  await browser.visit({ origin: server.origin }, async (page) => {
    await page.context().addCookies([{ name: "ctxd-session", value: session, url: server.origin }]);
    await page.goto(`${server.origin}/keys`);
    const link = page.getByRole("link", { name: "Revoke laptop" });
    await link.focus();
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Revoke this key?" }).waitFor();
    await expectSound(page);
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(await link.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(
      true,
    );
    await link.click();
    await page.getByRole("dialog").getByText("Cancel").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(page.url()).toBe(`${server.origin}/keys`);
    expect(await server.keys.list(id)).toMatchObject([{ revokedAt: null }]);
  });
});
