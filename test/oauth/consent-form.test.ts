import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { sendRaw } from "../support/raw-http.ts";
import {
  answerOf,
  type OAuthServer,
  type Parameters,
  startOAuthServer,
} from "./support/oauth-server.ts";
import { createPerson, type Person } from "./support/person.ts";

let server: OAuthServer;
let person: Person;
let accountId: string;
beforeAll(async () => {
  server = await startOAuthServer();
  ({ person, accountId } = await server.signedIn());
});
afterAll(() => server.close());
// One address may register one client a minute.
beforeEach(async () => {
  server.clock.advance(60_000);
  await server.sessions.prove(person.jar.get("ctxd-session") ?? "");
});

const visit = async (clientId: string, changes: Parameters = {}) =>
  person.visit(server.authorizeUrl(clientId, changes));

describe("the consent form is refused", () => {
  const formOf = async () => {
    const { client_id: clientId } = await server.register();
    return visit(clientId);
  };
  const expectForbidden = (page: { status: number; location: string | null }) =>
    expect(page).toMatchObject({ status: 403, location: null });

  test("without its CSRF token, with an invented one, and with one of another session", async () => {
    const page = await formOf();
    const other = await server.signedIn();
    const { client_id: clientId } = await server.register();
    const theirs = await other.person.visit(server.authorizeUrl(clientId));
    const [, token = ""] = /name="form_token" value="(\w+)"/.exec(theirs.text) ?? [];
    expect(token).toHaveLength(64);
    for (const each of [null, "", "x".repeat(64), token]) {
      expectForbidden(await person.submit(page, { decision: "allow", form_token: each }));
    }
    const grants = (await server.oauth.grants.list(accountId)).length;
    expect((await person.submit(page, { decision: "allow" })).status).toBe(303);
    expect(await server.oauth.grants.list(accountId)).toHaveLength(grants + 1);
  });

  test.each([
    { origin: "https://evil.example.com" },
    { origin: "null" },
    { origin: "http://localhost:1" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ])("from another site: %j", async (headers) => {
    expectForbidden(await person.submit(await formOf(), { decision: "allow" }, headers));
  });

  test("after the session has ended, and the sign-in page is shown", async () => {
    const { person: leaving } = await server.signedIn();
    const { client_id: clientId } = await server.register();
    const page = await leaving.visit(server.authorizeUrl(clientId));
    leaving.jar.clear();
    const next = await leaving.submit(page, { decision: "allow" });
    expect(next.text).toContain("<h1>Sign in</h1>");
  });

  test("by GET, so that a link grants nothing", async () => {
    const { client_id: clientId } = await server.register();
    const page = await person.visit(`${server.authorizeUrl(clientId)}&decision=allow`);
    expect(page.status).toBe(200);
    expect(page.location).toBeNull();
  });
});

test("no page can be framed, cached or contain a script, and its forms go only to this server", async () => {
  const { client_id: clientId } = await server.register();
  const stranger = createPerson(server.origin);
  for (const page of [
    await visit(clientId),
    await visit("unknown"),
    await stranger.visit(server.authorizeUrl(clientId)),
    await person.submit(await visit(clientId), { form_token: null }),
  ]) {
    const policy = page.headers.get("content-security-policy") ?? "";
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).toContain("base-uri 'none'");
    expect(policy).toContain("form-action 'self'");
    expect(policy).not.toMatch(/script-src|unsafe/);
    expect(page.headers.get("x-frame-options")).toBe("DENY");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("access-control-allow-origin")).toBeNull();
    expect(page.text).not.toContain("<script");
  }
});

test("a hostile client's name and state are escaped, and the name is shortened", async () => {
  const hostile = `</title><script>alert(1)</script>"'&lt;\u202Egnp.exe\u0000\n${"x".repeat(500)}`;
  const { client_id: clientId } = await server.register({ client_name: hostile });
  const page = await visit(clientId, { state: `"><script>alert(2)</script>` });
  expect(page.status).toBe(200);
  expect(page.text).not.toContain("<script");
  expect(page.text).toContain("&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&amp;lt;");
  expect(page.text).not.toMatch(/[\u202E\0]/);
  expect(page.text).not.toContain("x".repeat(80));
  const answer = answerOf(await person.submit(page, { decision: "deny" }));
  expect(answer.state).toBe(`"><script>alert(2)</script>`);
});

test("a person may switch accounts before consenting", async () => {
  const { client_id: clientId } = await server.register();
  const { person: visitor } = await server.signedIn();
  const page = await visitor.visit(server.authorizeUrl(clientId, { state: "a b" }));
  const signOut = { ...page, forms: page.forms.slice(1) };
  const signIn = await visitor.submit(signOut);
  expect(signIn.text).toContain("<h1>Sign in</h1>");
  expect(visitor.jar.has("ctxd-session")).toBe(false);
  const next = new URLSearchParams(signIn.forms[0]?.fields).get("next") ?? "";
  expect(new URL(next, server.origin).searchParams.get("state")).toBe("a b");
});

test("pages are not served under another host name (DNS rebinding)", async () => {
  const { client_id: clientId } = await server.register();
  const path = server.authorizeUrl(clientId).slice(server.origin.length);
  const session = person.jar.get("ctxd-session");
  for (const host of [
    "evil.example.com",
    "evil.localhost",
    `127.0.0.1:${server.port}`,
    "localhost:1",
  ]) {
    for (const each of [path, "/sign-in"]) {
      const answer = await sendRaw(
        server.port,
        `GET ${each} HTTP/1.1\r\nHost: ${host}\r\nCookie: ctxd-session=${session}\r\nConnection: close\r\n\r\n`,
      );
      expect(answer.status).toBe(403);
      expect(answer.body).not.toContain("form_token");
    }
  }
});
