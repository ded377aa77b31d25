import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import {
  expectSound,
  type Look,
  openBrowser,
  type Page,
  type TestBrowser,
} from "../support/browser.ts";

const EMAIL = "you@example.com";
const PASSWORD = "correct horse";
const HOSTILE = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;

let server: OAuthServer;
let browser: TestBrowser;
/** The address at which an app on the person's computer waits for the redirect. */
let program: Bun.Server<undefined>;
beforeAll(async () => {
  [server, browser] = await Promise.all([startOAuthServer(), openBrowser()]);
  await server.accounts.add({ email: EMAIL, password: PASSWORD });
  program = Bun.serve({
    port: 0,
    fetch: () => new Response("Thank you", { headers: { "content-type": "text/plain" } }),
  });
});
afterAll(async () => {
  await browser?.close();
  await program?.stop(true);
  await server?.close();
});

async function signIn(page: Page, password = PASSWORD) {
  await page.getByLabel("E-mail").fill(EMAIL);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test.each<[string, Look]>([
  ["with scripts", { inTurn: true }],
  ["without JavaScript", { javaScript: false }],
])("a person signs in and allows an app with a hostile name, %s", async (_, look) => {
  const callback = `http://localhost:${program.port}/callback`;
  const { client_id: clientId } = await server.register({
    client_name: HOSTILE,
    redirect_uris: [callback],
  });
  const elsewhere = [new URL(callback).origin];
  await browser.visit({ origin: server.origin, elsewhere, ...look }, async (page) => {
    const check = () => (look.javaScript === false ? undefined : expectSound(page));
    await page.goto(server.authorizeUrl(clientId, { redirect_uri: callback }));
    await check();
    await signIn(page, "wrong horse");
    await page.getByRole("alert").waitFor();
    await check();
    expect(await page.getByLabel("E-mail").inputValue()).toBe(EMAIL);
    await signIn(page);
    await page.getByRole("heading", { name: HOSTILE }).waitFor();
    await check();
    await page.getByRole("button", { name: "Allow" }).click();
    await page.waitForURL(`${callback}?**`);
    expect(new URL(page.url()).searchParams.has("code")).toBe(true);
  });
});

test("an invalid request gets an error page", async () => {
  await browser.visit({ origin: server.origin }, async (page) => {
    await page.goto(server.authorizeUrl("unknown"));
    await signIn(page);
    await page.getByRole("heading", { name: "Request refused" }).waitFor();
    await expectSound(page);
  });
});
