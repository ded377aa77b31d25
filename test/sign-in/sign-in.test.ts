import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLocalEphemeral } from "../../src/db/ephemeral.ts";
import { localPath } from "../../src/sign-in/paths.ts";
import { createHashing, createSignIn } from "../../src/sign-in/sign-in.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, type Page } from "../oauth/support/person.ts";
import { rejectionOf } from "../support/outcome.ts";

const EMAIL = "you@example.com";
const PASSWORD = "correct horse";
const MINUTE = 60_000;

let server: OAuthServer;
let accountId: string;
beforeAll(async () => {
  server = await startOAuthServer();
  ({ id: accountId } = await server.accounts.add({ email: EMAIL, password: PASSWORD }));
});
afterAll(() => server.close());

async function signIn(fields: Record<string, string | null>, headers: Record<string, string> = {}) {
  const person = createPerson(server.origin);
  const page = await person.visit("/sign-in");
  const next = await person.submit(page, { email: EMAIL, password: PASSWORD, ...fields }, headers);
  return { person, page: next };
}

const isSignedIn = ({ text }: Page) => text.includes("Sign out");

test("the right password begins a session, whose cookie scripts and other sites can't use", async () => {
  const { person, page } = await signIn({ email: " YOU@example.com " });
  expect(isSignedIn(page)).toBe(true);
  expect(page.cookies).toEqual([
    expect.stringMatching(
      /^ctxd-session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/,
    ),
    expect.stringMatching(/^ctxd-visit=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/),
    expect.stringMatching(
      /^ctxd-device=[\w.-]{90,110}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=34560000$/,
    ),
  ]);
  expect(isSignedIn(await person.visit("/sign-in"))).toBe(true);
});

test("over HTTPS the cookie is Secure, and no sister domain can set it", async () => {
  await using secure = await startOAuthServer({
    config: { publicUrl: "https://memory.example.com", trustProxy: true },
  });
  await secure.account();
  const headers = { "x-forwarded-proto": "https", host: "memory.example.com" };
  const response = await fetch(`http://127.0.0.1:${secure.port}/sign-in`, { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get("set-cookie")).toMatch(
    /^__Host-ctxd-visit=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure$/,
  );
});

test("a wrong password and an unknown account get the same answer", async () => {
  const wrong = await signIn({ password: "wrong horse" });
  const unknown = await signIn({ email: "nobody@example.com" });
  const shape = ({ text }: Page) =>
    text.replaceAll(/value="[^"]*"/g, "").replaceAll(/(you|nobody)@/g, "");
  expect(wrong.page.status).toBe(401);
  expect(unknown.page.status).toBe(401);
  expect(shape(wrong.page)).toBe(shape(unknown.page));
  expect(wrong.page.text).not.toContain("wrong horse");
  expect(wrong.person.jar.has("ctxd-session")).toBe(false);
});

test("an account without a password can't be signed in to", async () => {
  const { accountId: id } = await server.account();
  const email = (await server.accounts.find(id))?.email ?? "";
  for (const password of ["", "null", "undefined"]) {
    expect((await signIn({ email, password })).page.status).toBe(401);
  }
  // Restores the limit of this address for the next tests.
  server.clock.advance(15 * MINUTE);
});

describe("a sign-in form is refused", () => {
  test.each([
    [{ form_token: null }, {}],
    [{ form_token: "x".repeat(64) }, {}],
    [{}, { origin: "https://evil.example.com" }],
    [{}, { origin: "null" }],
    [{}, { "sec-fetch-site": "cross-site" }],
    [{}, { cookie: "" }],
  ])("with %j and %j", async (fields, headers) => {
    const { person, page } = await signIn(fields, headers as Record<string, string>);
    expect(page.status).toBe(403);
    expect(person.jar.has("ctxd-session")).toBe(false);
  });
});

describe("the page after the sign-in is never on another server:", () => {
  test.each([
    "https://evil.example.com/",
    "//evil.example.com/",
    "/\\evil.example.com/",
    "\\\\evil.example.com/",
    "/\t/evil.example.com/",
    "/\n/evil.example.com/",
    "/.//evil.example.com/",
    "/x/..//evil.example.com/",
    "javascript:alert(1)",
    "evil",
    "",
  ])("not at %j", async (next) => {
    expect(localPath(next, server.origin)).toBeNull();
    const { page } = await signIn({ next });
    expect(page.location).toBeNull();
    expect(isSignedIn(page)).toBe(true);
    const person = createPerson(server.origin);
    const shown = await person.visit(`/sign-in?${new URLSearchParams({ next })}`);
    expect(shown.text).not.toContain("evil");
  });

  test.each(["/docs", "/authorize?client_id=x&state=%2F%2Fevil.example.com", "/?q=https://x"])(
    "but may be %s",
    (next) => expect(localPath(next, "https://memory.example.com")).toBe(next),
  );
});

test("signing out ends the session on the server too", async () => {
  const { person } = await signIn({});
  const session = person.jar.get("ctxd-session") ?? "";
  const { client_id: clientId } = await server.register();
  const consent = await person.visit(server.authorizeUrl(clientId));
  const signOut = { ...consent, forms: consent.forms.slice(1) };
  expect((await person.submit(signOut, { form_token: null })).status).toBe(403);
  expect(await server.sessions.findAccount(session)).toBe(accountId);
  await person.submit(signOut);
  expect(await server.sessions.findAccount(session)).toBeNull();
});

test("a clock that is temporarily wrong ends no session", async () => {
  const session = await server.sessions.begin(accountId);
  for (const days of [-1, 366, -365]) {
    server.clock.advance(days * 24 * 60 * MINUTE);
    const isOver = days > 30;
    expect(await server.sessions.findAccount(session)).toBe(isOver ? null : accountId);
  }
});

test("a session lasts 30 days, and ends when the password changes", async () => {
  const { id, email } = await server.accounts.add({ email: "two@example.com", password: PASSWORD });
  const session = await server.sessions.begin(id);
  server.clock.advance(30 * 24 * 60 * MINUTE - 1);
  expect(await server.sessions.findAccount(session)).toBe(id);
  server.clock.advance(1);
  expect(await server.sessions.findAccount(session)).toBeNull();
  const next = await server.sessions.begin(id);
  const kept = await server.rows("sessions");
  expect(kept.filter((row) => Object(row).account_id === id)).toHaveLength(1);
  const other = await server.sessions.begin(accountId);
  await server.accounts.setPassword(id, "another horse");
  expect(await server.sessions.findAccount(next)).toBeNull();
  expect(await server.sessions.findAccount(other)).toBe(accountId);
  expect(email).toBe("two@example.com");
});

describe("password guesses are limited:", () => {
  test("one address has ten tries, then one every 90 seconds", async () => {
    server.clock.advance(15 * MINUTE);
    for (let count = 0; count < 10; count++) {
      const { page } = await signIn({ email: `person-${count}@example.com`, password: "short" });
      expect(page.status).toBe(401);
    }
    const { page } = await signIn({});
    expect(page.status).toBe(429);
    expect(page.headers.get("retry-after")).toBe("90");
    expect(page.text).toContain("Try again in 2 minutes.");
    server.clock.advance(90_000);
    expect(isSignedIn((await signIn({})).page)).toBe(true);
  });

  test("a right password does not count as a try", async () => {
    server.clock.advance(15 * MINUTE);
    for (let count = 0; count < 12; count++) {
      expect(isSignedIn((await signIn({})).page)).toBe(true);
    }
  });

  test("tries from many addresses at one account are counted together, whether the account exists or not", async () => {
    await using proxied = await startOAuthServer({ config: { trustProxy: true } });
    await proxied.accounts.add({ email: EMAIL, password: PASSWORD });
    for (const email of [EMAIL, "nobody@example.com"]) {
      const statuses: number[] = [];
      for (let count = 0; count < 31; count++) {
        const person = createPerson(proxied.origin);
        const page = await person.visit("/sign-in");
        const from = { "x-forwarded-for": `spoofed, 198.51.100.${count}` };
        statuses.push((await person.submit(page, { email, password: "short" }, from)).status);
      }
      expect(statuses).toEqual([...Array(30).fill(401), 429]);
    }
  });

  test("only the valid length of an e-mail address is stored, so that tries take little memory", async () => {
    const verifyPassword = async () => null;
    const parts = {
      accounts: { verifyPassword },
      hashing: createHashing(),
      ephemeral: createLocalEphemeral(Date.now),
    };
    const { check } = createSignIn(parts);
    const attempt = (count: number) =>
      check(
        { email: "x".repeat(60_000) + count, password: "" },
        { address: `192.0.2.${count}`, browser: null },
      );
    for (let count = 0; count < 30; count++) expect(await attempt(count)).toBeNull();
    expect(await rejectionOf(attempt(30))).toMatchObject({ code: "rate_limited" });
  });

  test("an IPv6 network counts as one address, and a forwarded address of a client is ignored", async () => {
    await using proxied = await startOAuthServer({ config: { trustProxy: true } });
    await proxied.accounts.add({ email: EMAIL, password: PASSWORD });
    const statuses: number[] = [];
    for (let count = 0; count < 11; count++) {
      const person = createPerson(proxied.origin);
      const page = await person.visit("/sign-in");
      const from = { "x-forwarded-for": `192.0.2.${count}, 2001:db8:1:2::${count}` };
      const email = `person-${count}@example.com`;
      statuses.push((await person.submit(page, { email, password: "short" }, from)).status);
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
  });

  test("all IPv6 networks of one customer have sixty tries together", async () => {
    const verifyPassword = async () => null;
    const parts = {
      accounts: { verifyPassword },
      hashing: createHashing(),
      ephemeral: createLocalEphemeral(Date.now),
    };
    const { check } = createSignIn(parts);
    const attempt = (count: number, site: string) =>
      check(
        { email: `person-${count}@example.com`, password: "" },
        { address: `${site}:${count}::/64`, browser: null },
      );
    for (let count = 0; count < 60; count++) {
      expect(await attempt(count, "2001:db8:1")).toBeNull();
    }
    expect(await rejectionOf(attempt(60, "2001:db8:1"))).toMatchObject({ code: "rate_limited" });
    expect(await attempt(60, "2001:db8:2")).toBeNull();
  });
});
