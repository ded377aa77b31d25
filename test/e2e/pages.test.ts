import { afterAll, beforeAll, expect, test } from "bun:test";
import { CLIENTS } from "../../src/connect/clients.ts";
import { projectPath } from "../../src/dashboard/navigation.tsx";
import { wholeAccount } from "../../src/keys/reach.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";
import { expectSound, type Look, type Page } from "../support/browser.ts";
import { type Dashboard, startDashboard } from "../support/dashboard.ts";
import { temporaryFolder } from "../support/database.ts";
import { recordSamples, saveSamples } from "./sample.ts";

/** Maximum bytes of a page's HTML when all names have the maximum length. */
const MOST_BYTES = 60_000;
/** Maximum bytes of a page with all its assets, compressed if they are text. */
const MOST_BYTES_WITH_ASSETS = 110_000;
/** Milliseconds for visiting all pages in two looks on a busy machine. */
const TIMEOUT = 240_000;

let dashboard: Dashboard;
let accountId: string;
let session: string;
let paths: string[];

beforeAll(async () => {
  dashboard = await startDashboard();
  ({ id: accountId } = await dashboard.accounts.add({
    email: "you@example.com",
    password: "correct horse",
  }));
  await saveSamples(
    (memory) => dashboard.memories.saveAll(wholeAccount(accountId), [memory]),
    dashboard.clock,
  );
  // A page with the longest possible content.
  const longest = Array.from({ length: 25 }, (_, index) => ({
    content: `${index} ${"long ".repeat(6_000)}`,
    tags: Array.from({ length: 4 }, (_, tag) => `a rather long tag ${tag}`),
    agent_id: "a".repeat(128),
    session_id: "s".repeat(128),
    project: `${index} ${"p".repeat(120)}`,
    expires_at: "2030-01-01T00:00:00Z",
  }));
  const whole = wholeAccount(accountId);
  const [memory] = await dashboard.memories.saveAll(whole, longest, {
    source: { via: "mcp", by: "b".repeat(128), id: "key_1" },
  });
  const now = { content: "What is true now", supersedes: memory?.id ?? "" };
  const [newest] = await dashboard.memories.saveAll(whole, [now]);
  const keys = await Promise.all(
    ["laptop", "server"].map((name) =>
      dashboard.keys.create(accountId, { name, scopes: ["memories:read"], expiresAt: null }),
    ),
  );
  for (let number = 0; number < 60; number++) {
    dashboard.securityLog.record("key_created", {
      accountId,
      via: "browser",
      address: "2001:db8:85a3:8d3:1319:8a2e:370:7348",
      agent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
      subject: `${number} ${"long ".repeat(40)}`,
    });
  }
  await dashboard.activity.keepQueries(accountId, true);
  const activity = { accountId, ids: newest ? [newest.id] : [] };
  await recordSamples(dashboard.activity, dashboard.clock, activity);
  for (let number = 0; number < 40; number++) {
    dashboard.activity.record({
      ...{ accountId, kind: "searched", agent: `${number} ${"a".repeat(120)}`, memories: 1 },
      ...{
        source: { id: keys[1]?.record.id ?? "", by: "b".repeat(128) },
        memoryId: memory?.id ?? null,
      },
      query: "long ".repeat(80),
    });
  }
  await dashboard.activity.flush();
  session = await dashboard.sessions.begin(accountId);
  const person = createPerson(dashboard.origin);
  person.jar.set("ctxd-session", session);
  const { client_id: clientId } = await dashboard.register();
  const { code = null } = await dashboard.consent(person, clientId);
  await dashboard.redeem(clientId, code);
  paths = [
    "/",
    "/memories",
    "/memories?q=tea+for+Sam",
    "/memories?tags=billing&from=2026-01-01&to=2026-12-31",
    "/memories?from=never",
    `/memories?project=${encodeURIComponent(longest[24]?.project ?? "")}&source=gone&history=1`,
    "/map",
    "/map?by=agent",
    "/memories/new",
    "/memories/import",
    "/memories/export/offer",
    "/memories/tidy",
    "/memories/tidy?kind=small_projects",
    "/memories/tidy/all?kind=expiring",
    "/memories/forget?about=Sam",
    `/memories/${newest?.id}`,
    `/memories/${memory?.id}`,
    `/memories/${memory?.id}/edit`,
    `/memories/new?supersedes=${newest?.id}`,
    `/memories/${memory?.id}/delete`,
    "/memories/none",
    "/activity",
    "/activity?days=90",
    "/connect",
    "/connect?to=cursor",
    "/connect?to=claude-desktop",
    "/connect?to=chatgpt",
    "/connect?to=python",
    "/welcome",
    "/welcome/save",
    "/welcome/ask?q=tea+for+Sam",
    "/keys",
    `/keys/${keys[0]?.record.id}/revoke`,
    `/agents/${keys[0]?.record.id}/written`,
    "/agents",
    `/agents/${keys[0]?.record.id}/pause`,
    "/projects",
    "/projects?page=2",
    projectPath(longest[24]?.project ?? ""),
    `${projectPath(longest[24]?.project ?? "")}/move?to_project=acme/billing`,
    "/account",
    "/account/security",
    "/admin",
    `/admin/accounts/${accountId}`,
    `/admin/accounts/${accountId}/revoke`,
    "/account/revoke",
    "/admin/backups",
    "/admin/health",
    "/spaces",
    "/admin/spaces",
    "/admin/security",
    "/admin/security?event=signed_in&from=2026-01-01&to=2026-12-31",
    "/help/install",
    "/help?q=agents",
    "/help/agents",
    "/help/agents/claude-desktop",
  ];
});
afterAll(() => dashboard?.close());

/** Without their parameters, each only once. One dark view of each page is enough. */
const isFirst = (path: string, at: number, all: readonly string[]) =>
  all.findIndex((other) => other.split("?")[0] === path.split("?")[0]) === at;

test.each<[string, typeof isFirst, Look]>([
  ["in the light and in the dark on a narrow screen", isFirst, { inTurn: true }],
  ["with further parameters", (...path) => !isFirst(...path), {}],
])(
  "every page can be used by anyone, %s",
  async (_, isWanted, look) => {
    const check = async (page: Page) => {
      for (const path of paths.filter(isWanted)) {
        await page.goto(dashboard.origin + path);
        const headings = await page.getByRole("heading", { level: 1 }).count();
        expect({ path, headings }).toEqual({ path, headings: 1 });
        await expectSound(page);
      }
    };
    await dashboard.visitAs(accountId, check, look);
  },
  TIMEOUT,
);

test("every page is small, private and runs only our own scripts", async () => {
  for (const path of paths) {
    const response = await fetch(dashboard.origin + path, {
      headers: { cookie: `ctxd-session=${session}` },
    });
    const html = await response.text();
    const bytes = Buffer.byteLength(html);
    expect({ path, bytes, isSmall: bytes < MOST_BYTES }).toEqual({ path, bytes, isSmall: true });
    const sizes = await Promise.all(assetsOf(html).map(sizeOf));
    const total = sizes.reduce((sum, size) => sum + size, bytes);
    const isLight = total < MOST_BYTES_WITH_ASSETS;
    expect({ path, total, isLight }).toEqual({ path, total, isLight: true });
    expectPrivate(response.headers);
  }
});

/** Nothing is kept of a page, and it asks no other host. */
function expectPrivate(headers: Headers): void {
  expect(headers.get("cache-control")).toBe("no-store");
  const policy = headers.get("content-security-policy") ?? "";
  expect(policy).toStartWith("default-src 'none'; style-src 'self'");
  expect(policy).not.toContain("unsafe");
}

/** The texts of some elements of a page. */
function textsOf(html: string, selector: string): string[] {
  const texts: string[] = [];
  new HTMLRewriter()
    .on(selector, {
      element: () => void texts.push(""),
      text: ({ text }) => void texts.push((texts.pop() ?? "") + text),
    })
    .transform(html);
  return texts;
}

/** Addresses of the scripts, stylesheets, fonts and icons of a page. */
function assetsOf(html: string): string[] {
  const head = html.slice(0, html.indexOf("</head>"));
  return [...head.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path);
}

/** Size of an asset in bytes, as it is sent: compressed. */
async function sizeOf(path: string): Promise<number> {
  const headers = { "accept-encoding": "gzip" };
  const response = await fetch(dashboard.origin + path, { headers, decompress: false });
  expect(response.status).toBe(200);
  return (await response.arrayBuffer()).byteLength;
}

test.each([true, false])(
  "growth is drawn, and told in a table, scripts or none: %p",
  async (javaScript) => {
    await dashboard.visitAs(
      accountId,
      async (page) => {
        await page.goto(dashboard.origin);
        await page.getByRole("link", { name: "1 year" }).click();
        await page.locator('.tab[href="/?span=year"][aria-current]').waitFor();
        await page.locator(".growth-line").waitFor();
        expect(await page.locator(".growth-point").count()).toBe(52);
        await page.getByText("As a table").click();
        const rows = page.getByRole("table", { name: "Growth" }).getByRole("row");
        expect(await rows.count()).toBeGreaterThan(2);
      },
      { javaScript },
    );
  },
);

test.each([
  ["curl", ["bash", "-euc"]],
  ["TypeScript", [process.execPath, "-e"]],
])(
  "what the page says for %s works as it is pasted, with the key that it makes",
  async (name, command) => {
    await dashboard.visitAs(accountId, async (page) => {
      await page.goto(`${dashboard.origin}/connect`);
      await page.getByRole("link", { name, exact: true }).click();
      await page.getByRole("button", { name: "Create a key and insert it" }).click();
      await page.getByText("shown only once").waitFor();
      await expectSound(page);
      const text = (await page.locator("pre").first().textContent()) ?? "";
      expect(text).toContain(`${dashboard.origin}/api/memories`);
      const env = { HOME: temporaryFolder(), PATH: process.env.PATH };
      const child = Bun.spawn([...command, text], { env, stdout: "pipe", stderr: "ignore" });
      expect(await new Response(child.stdout).text()).not.toBe("");
      expect(await child.exited).toBe(0);
      const { memories } = await dashboard.memories.list(wholeAccount(accountId), {
        filter: {},
        limit: 1,
      });
      expect(memories).toMatchObject([{ content: "Sam is allergic to peanuts", tags: ["food"] }]);
      await dashboard.memories.remove(wholeAccount(accountId), memories[0]?.id ?? "");

      await page.reload();
      expect(await page.locator("pre").first().textContent()).toContain("ctx_YOUR_KEY");
    });
  },
);

test("the page Connect has the text for every client, with a working key", async () => {
  // Above, a browser presses the button. All clients have the same one.
  const person = createPerson(dashboard.origin);
  person.jar.set("ctxd-session", session);
  for (const { id, name } of CLIENTS) {
    const page = await person.visit(`/connect?to=${id}`);
    expect(page.text).toContain("Create a key and insert it");
    const { text, headers } = await person.submit(formTo(page, "/connect"));
    expectPrivate(headers);
    expect({ id, headings: textsOf(text, "h1, h2, h3") }).toEqual({
      ...{ id, headings: expect.arrayContaining([name]) },
    });
    const shown = textsOf(text, "pre").join("\n");
    expect(shown).toContain(`${dashboard.origin}/mcp`);
    const [key = ""] = /ctx_\w{43}/.exec(shown) ?? [];
    const { status } = await fetch(`${dashboard.origin}/api/memories`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect({ id, status }).toEqual({ id, status: 200 });
  }
});
