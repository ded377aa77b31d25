import { afterAll, describe, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";
import { until } from "../support/until.ts";

const PATHS = ["/", "/memories", "/keys", "/agents", "/account", "/admin"];
const HOSTILE = `"'><script>alert(1)</script>&lt;`;
/** Maximum bytes of a page. */
const MAX_PAGE = 50_000;

const server = await startOAuthServer();
afterAll(server.close);
const email = `x'"@example.com`.replace('"', "");
const { id: ownerId } = await server.accounts.add({ email, password: "correct horse" });

async function signedIn(accountId = ownerId) {
  const person = createPerson(server.origin);
  person.jar.set("ctxd-session", await server.sessions.begin(accountId));
  return person;
}

test.each(PATHS)("%s asks for a sign-in and returns to the page afterwards", async (path) => {
  const person = createPerson(server.origin);
  const page = await person.visit(`${path}?q=1`);
  expect(new URL(page.url).pathname).toBe("/sign-in");
  expect(new URL(page.url).searchParams.get("next")).toBe(`${path}?q=1`);
});

test.each(PATHS)(
  "%s is small, has a strict content security policy, and is not cached",
  async (path) => {
    const page = await (await signedIn()).visit(path);
    expect(page.status).toBe(200);
    expect(Buffer.byteLength(page.text)).toBeLessThan(MAX_PAGE);
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.text).not.toMatch(/<script(?! src="\/assets\/[0-9a-f]{16}\.js" defer><\/script>)/);
    expect(page.text).not.toMatch(/ style=| on\w+=/);
  },
);

test("long lists are split into pages, so pages stay small", async () => {
  const { accountId } = await server.account();
  for (let count = 0; count < 100; count++) {
    const name = `key ${count} of <b>${"x".repeat(80)}`;
    const key = { name, scopes: ["memories:read"], expiresAt: null } as const;
    const { record } = await server.keys.create(accountId, key);
    if (count % 2 === 0) await server.keys.revoke(accountId, record.id);
    await server.sessions.begin(accountId, "x".repeat(300));
    await server.accounts.add({ email: `${"x".repeat(60)}${count}@example.com`, password: null });
    await server.invitations.create(`${"y".repeat(60)}${count}@example.com`);
  }
  const person = await signedIn(accountId);
  const sizes: [string, number][] = [];
  const names = new Set<string>();
  for (const path of [
    "/keys",
    "/keys?page=2",
    "/keys?page=3",
    "/keys?page=4",
    "/keys?page=x",
    "/account",
    "/agents",
  ]) {
    const { text } = await person.visit(path);
    for (const [, name = ""] of text.matchAll(/<bdi>(key \d+)/g)) names.add(name);
    sizes.push([path, Buffer.byteLength(text)]);
  }
  expect(names.size).toBe(100);
  const { text } = await (await signedIn()).visit("/admin");
  sizes.push(["/admin", Buffer.byteLength(text)]);
  expect(sizes.filter(([, size]) => size >= MAX_PAGE)).toEqual([]);
  expect((await person.visit("/keys")).text).toContain('href="/keys?page=2"');
});

test("hostile names are escaped on every page", async () => {
  const { client_id: clientId } = await server.register({ client_name: HOSTILE });
  const person = await signedIn();
  await server.consent(person, clientId);
  await server.keys.create(ownerId, { name: HOSTILE, scopes: ["memories:read"], expiresAt: null });
  const agent = `${HOSTILE} on Linux`;
  await server.sessions.begin(ownerId, agent);
  const escaped = "&lt;script&gt;alert(1)&lt;/script&gt;&amp;lt;";
  const shown: string[] = [];
  for (const path of PATHS) {
    const { text } = await person.visit(path);
    expect(text).not.toContain("<script>");
    expect(text).toContain("x&#x27;@example.com");
    if (text.includes(escaped)) shown.push(path);
  }
  expect(shown).toEqual(expect.arrayContaining(["/keys", "/agents"]));
  const [key] = await server.keys.list(ownerId);
  const [grant] = await server.oauth.grants.list(ownerId);
  for (const path of [
    `/keys/${key?.id}/revoke`,
    `/keys/${key?.id}/regenerate`,
    `/agents/${grant?.id}/revoke`,
  ]) {
    const { text, status } = await person.visit(path);
    expect(status).toBe(200);
    expect(text).toContain(escaped);
    expect(text).not.toContain("<script>");
  }
});

describe("a form is refused", () => {
  test.each([
    [{ form_token: null }, {}],
    [{ form_token: "x".repeat(64) }, {}],
    [{}, { origin: "https://evil.example.com" }],
    [{}, { "sec-fetch-site": "cross-site" }],
    [{}, { "sec-fetch-site": "same-site" }],
    [{}, { origin: "null" }],
  ])("with %j and %j", async (fields, headers) => {
    const before = (await server.keys.list(ownerId)).length;
    const person = await signedIn();
    const page = formTo(await person.visit("/keys"), "/keys");
    const sent = await person.submit(
      page,
      { name: "stolen", ...fields },
      headers as Record<string, string>,
    );
    expect(sent.status).toBe(403);
    expect(await server.keys.list(ownerId)).toHaveLength(before);
  });

  test("with another person's token", async () => {
    const { accountId } = await server.account();
    const other = await signedIn(accountId);
    const page = formTo(await (await signedIn()).visit("/keys"), "/keys");
    expect((await other.submit(page, { name: "stolen" })).status).toBe(403);
  });

  test("after the session has ended; signing in leads back to the page", async () => {
    const person = await signedIn();
    const page = formTo(await person.visit("/keys"), "/keys");
    person.jar.clear();
    const next = await person.submit(page, { name: "x" }, { referer: `${server.origin}/keys` });
    expect(new URL(next.url).searchParams.get("next")).toBe("/keys");
    const away = await person.submit(
      page,
      { name: "x" },
      { referer: "https://evil.example.com/a" },
    );
    expect(new URL(away.url).searchParams.get("next")).toBe("/");
  });
});

test("an account can upload only one file at a time", async () => {
  const headers = { cookie: `ctxd-session=${await server.sessions.begin(ownerId)}` };
  const url = `${server.origin}/memories/import`;
  const send = (body: FormData | ReadableStream, more = {}) =>
    fetch(url, { method: "POST", body, headers: { ...headers, ...more } });
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const slow = send(readable, { "content-type": "multipart/form-data; boundary=x" });
  await writer.write(Buffer.from("--x\r\n"));
  await until("the slow upload has begun", async () => (await send(new FormData())).status === 429);
  const { accountId } = await server.account();
  headers.cookie = `ctxd-session=${await server.sessions.begin(accountId)}`;
  expect((await send(new FormData())).status).toBe(403);
  await writer.close();
  expect((await slow).status).toBe(400);
  headers.cookie = `ctxd-session=${await server.sessions.begin(ownerId)}`;
  expect((await send(new FormData())).status).toBe(403);
});

test("a notice is shown once, and forged notices are ignored", async () => {
  const person = await signedIn();
  const { record } = await server.keys.create(ownerId, {
    name: HOSTILE,
    scopes: ["memories:read"],
    expiresAt: null,
  });
  const question = await person.visit(`/keys/${record.id}/revoke`);
  const page = await person.submit(formTo(question, `/keys/${record.id}/revoke`));
  expect(page.text).toContain("is revoked.");
  expect(page.text).not.toContain("<script>");
  expect((await person.visit("/keys")).text).not.toContain("is revoked.");

  const [cookie = ""] = page.cookies.filter((each) => each.startsWith("ctxd-notice="));
  const value = /=([^;]+)/.exec(cookie)?.[1] ?? "";
  const other = await signedIn();
  for (const forged of [
    value,
    `${Buffer.from("Pay us").toString("hex")}.${"0".repeat(64)}`,
    "x",
    ".",
  ]) {
    other.jar.set("ctxd-notice", forged);
    const { text } = await other.visit("/keys");
    expect(text).not.toContain('class="done"');
  }
});

describe("an error", () => {
  const asBrowser = { accept: "text/html,application/xhtml+xml" };

  test("is a page with the navigation for people who are signed in", async () => {
    const page = await (await signedIn()).visit("/keys/unknown/revoke");
    expect(page.status).toBe(404);
    expect(page.text).toContain("Your account has no such key");
    expect(page.text).toContain('aria-label="Main"');
  });

  test("is a page for browsers and JSON for programs if the path does not exist", async () => {
    const person = createPerson(server.origin);
    const page = await person.visit("/nothing", asBrowser);
    expect(page.status).toBe(404);
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.text).toContain("There is nothing at this path.");
    for (const [path, headers] of [
      ["/nothing", {}],
      ["/api/nothing", asBrowser],
      ["/api/memories", asBrowser],
      ["/mcp", asBrowser],
    ] as const) {
      const { headers: received } = await person.visit(path, headers);
      expect(received.get("content-type")).toStartWith("application/json");
    }
  });

  test("is a page for browsers that use plain HTTP", async () => {
    const response = await fetch(server.origin, {
      headers: { ...asBrowser, host: "memory.example.com" },
    });
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("<p>Plain HTTP is for localhost only.");
  });
});
