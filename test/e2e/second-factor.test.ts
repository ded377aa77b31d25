import { describe, expect, test } from "bun:test";
import { addAuthenticator } from "../support/authenticator.ts";
import { expectSound } from "../support/browser.ts";
import { press, signOut } from "../support/dashboard.ts";
import { EMAIL, heading, LOOKS, PASSWORD, soundness, useSignIn } from "./support/sign-in.ts";

const { server, visit, signIn, setUpApp, addPasskey } = useSignIn();

describe("an authenticator app", () => {
  test.each(LOOKS)("is set up, asked for, and replaced by a recovery code, %s", async (_, look) => {
    const check = soundness(look);
    await visit(look, async (page) => {
      await signIn(page);
      await heading(page, "Passkeys and second factor");
      await check(page);
      const { app, codes } = await setUpApp(page, check);
      expect(codes).toHaveLength(10);
      await page.getByRole("link", { name: "I have saved them" }).click();
      await page.getByText("10 of 10 codes are unused").waitFor();
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
      await page.getByText("9 of 10 codes are unused").waitFor();
      await press(page, "Create new codes");
      await heading(page, "Your recovery codes");
      await page.goto(`${server().origin}/account`);
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
  test("signs in after the password and without it", async () => {
    await visit({ inTurn: true }, async (page) => {
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
      await page.goto(`${server().origin}/memories`);
      await page.getByRole("link", { name: "Sign in with a passkey" }).click();
      await heading(page, "Sign in with a passkey");
      await expectSound(page);
      await press(page, "Use a passkey");
      await heading(page, "Memories");

      await addPasskey(page, "Once more");
      await page.getByText("This device already has a passkey for your account.").waitFor();
      await expectSound(page);

      await page.goto(`${server().origin}/account`);
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

  test("that is lost can be replaced by a recovery code, also without a password", async () => {
    await visit({}, async (page) => {
      await addAuthenticator(page);
      await signIn(page);
      await addPasskey(page, "Phone");
      await heading(page, "Your recovery codes");
      const [code = ""] = ((await page.locator("pre").textContent()) ?? "").split("\n");
      await page.goto(`${server().origin}/account`);
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
      await page.getByText("9 of 10 codes are unused").waitFor();
      await page.getByLabel("New password").fill(PASSWORD);
      await press(page, "Set password");
      await page.getByText("Your password is changed.").waitFor();
    });
  });

  test("that can't be unlocked signs nobody in, and the page says so", async () => {
    await visit({}, async (page) => {
      const device = await addAuthenticator(page);
      await signIn(page);
      await addPasskey(page, "Laptop");
      await heading(page, "Your recovery codes");
      await page.goto(`${server().origin}/account`);
      await signOut(page);
      await device.setVerified(false);
      await page.getByRole("link", { name: "Sign in with a passkey" }).click();
      await press(page, "Use a passkey");
      await page.getByText("No passkey was used").waitFor();
      await expectSound(page);
    });
  });

  test("needs JavaScript, says so without it, and codes still work", async () => {
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
