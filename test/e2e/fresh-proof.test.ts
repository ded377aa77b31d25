import { describe, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { addAuthenticator } from "../support/authenticator.ts";
import { expectSound } from "../support/browser.ts";
import { follow, press, signOut } from "../support/dashboard.ts";
import { SET_UP_LINK } from "../support/server.ts";
import {
  EMAIL,
  heading,
  LOOKS,
  MINUTE,
  PASSWORD,
  soundness,
  useSignIn,
} from "./support/sign-in.ts";

const { browser, server, accountId, visit, signIn, setUpApp, addPasskey } = useSignIn();

describe("a fresh proof", () => {
  test.each(LOOKS)("is asked for before a key is created, %s", async (_, look) => {
    const check = soundness(look);
    await visit(look, async (page) => {
      await signIn(page, "/keys");
      server().clock.advance(11 * MINUTE);
      await page.getByLabel("Name").fill("of a patient person");
      await press(page, "Create key");
      await heading(page, "Is it you?");
      await check(page);
      await page.getByLabel("Password").fill("a wrong password");
      await press(page, "Go on");
      await page.getByRole("alert").waitFor();
      await check(page);
      expect(await server().keys.list(accountId())).toEqual([]);
      await page.getByLabel("Password").fill(PASSWORD);
      await press(page, "Go on");
      await page.getByText("The key is shown only once.").waitFor();
      expect((await server().keys.list(accountId())).map(({ name }) => name)).toEqual([
        "of a patient person",
      ]);

      server().clock.advance(9 * MINUTE);
      await page.goto(`${server().origin}/connect`);
      await page.getByRole("link", { name: "curl", exact: true }).click();
      await press(page, "Create a key and insert it");
      await page.getByText("shown only once").waitFor();
      server().clock.advance(2 * MINUTE);
      await page.reload();
      await press(page, "Create a key and insert it");
      await heading(page, "Is it you?");
    });
  });

  test("needs a passkey or code if there is one, and not the password", async () => {
    await visit({}, async (page) => {
      await addAuthenticator(page);
      await signIn(page);
      const { app } = await setUpApp(page);
      await addPasskey(page, "Laptop");
      await page.getByText("The passkey is added.").waitFor();
      for (const way of ["passkey", "code"]) {
        server().clock.advance(11 * MINUTE);
        await page.goto(`${server().origin}/keys`);
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
      expect((await server().keys.list(accountId())).map(({ name }) => name)).toEqual([
        "passkey",
        "code",
      ]);
    });
  });

  test("is asked for before an export and lasts for ten minutes", async () => {
    await (await server().client(accountId())).save({ content: "Sam plays the cello" });
    await visit({}, async (page) => {
      await signIn(page, "/memories");
      await heading(page, "Memories");
      server().clock.advance(11 * MINUTE);
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
    const check = soundness(look);
    await using fresh = await startOAuthServer();
    const { client_id: clientId } = await fresh.register();
    await browser().visit({ origin: fresh.origin, ...look }, async (page) => {
      await page.goto(fresh.origin + SET_UP_LINK);
      await check(page);
      await page.getByLabel("E-mail address").fill(EMAIL);
      await page.getByLabel("Password").fill(PASSWORD);
      await press(page, "Create my account");
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
