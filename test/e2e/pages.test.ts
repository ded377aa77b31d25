import { afterAll, beforeAll, expect, test } from "bun:test";
import { CLIENTS } from "../../src/connect/clients.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson } from "../oauth/support/person.ts";
import { expectSound, type Look, openBrowser, type TestBrowser } from "../support/browser.ts";
import { saveSamples } from "./sample.ts";

/** Bytes of a page's HTML at the most. */
const MOST_BYTES = 50_000;

let server: OAuthServer;
let browser: TestBrowser;
let session: string;
let accountId: string;
let paths: string[];

beforeAll(async () => {
  [server, browser] = await Promise.all([startOAuthServer(), openBrowser()]);
  ({ id: accountId } = await server.accounts.add({
    email: "you@example.com",
    password: "correct horse",
  }));
  await saveSamples((memory) => server.memories.create(accountId, [memory]), server.clock);
  // A page of the longest there are.
  const longest = Array.from({ length: 25 }, (_, index) => ({
    content: `${index} ${"long ".repeat(6_000)}`,
    tags: Array.from({ length: 4 }, (_, tag) => `a rather long tag ${tag}`),
    agent_id: "a".repeat(128),
    session_id: "s".repeat(128),
  }));
  const [memory] = await server.memories.create(accountId, longest);
  const keys = ["laptop", "server"].map((name) =>
    server.keys.create(accountId, { name, scopes: ["memories:read"], expiresAt: null }),
  );
  session = server.sessions.begin(accountId);
  const person = createPerson(server.origin);
  person.jar.set("ctxd-session", session);
  const { client_id: clientId } = await server.register();
  const { code = null } = await server.consent(person, clientId);
  await server.redeem(clientId, code);
  paths = [
    "/",
    "/memories",
    "/memories?q=tea+for+Sam",
    "/memories?tags=billing&from=2026-01-01&to=2026-12-31",
    "/memories?from=never",
    "/memories/new",
    "/memories/import",
    `/memories/${memory?.id}/delete`,
    "/memories/none",
    "/connect",
    "/connect?to=cursor",
    "/connect?to=claude-desktop",
    "/connect?to=chatgpt",
    "/connect?to=python",
    "/keys",
    `/keys/${keys[0]?.record.id}/revoke`,
    "/apps",
    "/account",
    "/admin",
  ];
});
afterAll(async () => {
  await browser?.close();
  await server?.close();
});

const cookie = () => ({ name: "ctxd-session", value: session, url: server.origin });

test("every page can be used by anyone, in the light and in the dark on a narrow screen", async () => {
  const looks: Look[] = [{}, { dark: true, narrow: true }];
  await Promise.all(
    looks.map((look) =>
      browser.visit({ origin: server.origin, ...look }, async (page) => {
        await page.context().addCookies([cookie()]);
        for (const path of paths) {
          await page.goto(server.origin + path);
          const headings = await page.getByRole("heading", { level: 1 }).count();
          expect({ path, headings }).toEqual({ path, headings: 1 });
          await expectSound(page);
        }
      }),
    ),
  );
});

test("every page is small, private and runs nothing but our own scripts", async () => {
  for (const path of paths) {
    const response = await fetch(server.origin + path, {
      headers: { cookie: `ctxd-session=${session}` },
    });
    const html = await response.text();
    expect({ path, length: html.length }).toEqual({ path, length: expect.any(Number) });
    expect(html.length).toBeLessThan(MOST_BYTES);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const policy = response.headers.get("content-security-policy") ?? "";
    expect(policy).toStartWith("default-src 'none'; style-src 'self'");
    expect(policy).not.toContain("unsafe");
  }
});

test("charts are drawn where scripts run, and their tables are there where none do", async () => {
  await browser.visit({ origin: server.origin }, async (page) => {
    await page.context().addCookies([cookie()]);
    await page.goto(server.origin);
    await page.locator("[data-chart=fading] canvas").waitFor();
    await page.locator("[data-chart=growth] .u-over").hover();
    await page.getByText(/\d+ saved, \d+ in all/).waitFor();
    expect(await page.getByRole("table").count()).toBe(0);
    await expectSound(page);
  });
  await browser.visit({ origin: server.origin, javaScript: false }, async (page) => {
    await page.context().addCookies([cookie()]);
    await page.goto(server.origin);
    expect(await page.getByRole("table").count()).toBe(2);
    expect(await page.locator("canvas").count()).toBe(0);
  });
});

test.each([
  ["curl", ["bash", "-euc"]],
  ["TypeScript", [process.execPath, "-e"]],
])(
  "what the page says for %s works as it is pasted, with the key that it makes",
  async (name, command) => {
    await browser.visit({ origin: server.origin }, async (page) => {
      await page.context().addCookies([cookie()]);
      await page.goto(`${server.origin}/connect`);
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("button", { name: "Make a key and put it in" }).click();
      await page.getByText("It is shown only now").waitFor();
      await expectSound(page);
      const text = (await page.locator("pre").first().textContent()) ?? "";
      expect(text).toContain(`${server.origin}/api/memories`);
      const child = Bun.spawn([...command, text], { stdout: "pipe", stderr: "ignore" });
      expect(await new Response(child.stdout).text()).not.toBe("");
      expect(await child.exited).toBe(0);
      const { memories } = await server.memories.list(accountId, { filter: {}, limit: 1 });
      expect(memories).toMatchObject([{ content: "Sam is allergic to peanuts", tags: ["food"] }]);
      await server.memories.remove(accountId, memories[0]?.id ?? "");

      await page.reload();
      expect(await page.locator("pre").first().textContent()).toContain("ctx_YOUR_KEY");
    });
  },
);

test("the page has the text for every client, with a key that works", async () => {
  await browser.visit({ origin: server.origin, javaScript: false }, async (page) => {
    await page.context().addCookies([cookie()]);
    for (const { id, name } of CLIENTS) {
      await page.goto(`${server.origin}/connect?to=${id}`);
      await page.getByRole("button", { name: "Make a key and put it in" }).click();
      await page.getByRole("heading", { name, exact: true }).waitFor();
      const text = (await page.locator("pre").allTextContents()).join("\n");
      expect(text).toContain(`${server.origin}/mcp`);
      const [key = ""] = /ctx_\w{43}/.exec(text) ?? [];
      const { status } = await fetch(`${server.origin}/api/memories`, {
        headers: { authorization: `Bearer ${key}` },
      });
      expect({ id, status }).toEqual({ id, status: 200 });
    }
  });
});
