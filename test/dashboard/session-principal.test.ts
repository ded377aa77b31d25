import { afterAll, expect, test } from "bun:test";
import { createSessionPrincipal } from "../../src/dashboard/session.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { outcomeOf } from "../support/outcome.ts";

const server = await startOAuthServer();
afterAll(server.close);
const { accountId, person } = await server.signedIn();
const cookie = `ctxd-session=${person.jar.get("ctxd-session")}`;
const memory = await (await server.client(accountId)).save({ content: "x" });
const evil = "https://evil.example.com";

async function send(method: string, path: string, headers: Record<string, string>) {
  const body = method === "POST" ? JSON.stringify({ content: "by session" }) : null;
  const response = await fetch(server.origin + path, {
    method,
    body,
    headers: { cookie, ...(body && { "content-type": "application/json" }), ...headers },
  });
  return response.status;
}

test.each([
  {},
  { "sec-fetch-site": "same-origin" },
  { "sec-fetch-site": "none" },
  { origin: server.origin },
])("the session may read with the headers %j", async (headers) => {
  expect(await send("GET", `/api/memories/${memory.id}`, headers as Record<string, string>)).toBe(
    200,
  );
});

test.each([
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { origin: evil },
  { origin: "null" },
])("the session may not read with the headers %j", async (headers) => {
  expect(await send("GET", `/api/memories/${memory.id}`, headers as Record<string, string>)).toBe(
    403,
  );
});

test.each([
  { origin: server.origin, "sec-fetch-site": "same-origin" },
  { origin: server.origin },
  { "sec-fetch-site": "same-origin" },
])("the session may write with the headers %j", async (headers) => {
  // The first request saves a memory; the others save the same text.
  const status = await send("POST", "/api/memories", headers as Record<string, string>);
  expect([200, 201]).toContain(status);
});

test.each([
  {},
  { "sec-fetch-site": "none" },
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site", origin: server.origin },
  { origin: evil },
  { origin: evil, "sec-fetch-site": "same-origin" },
  { origin: "null" },
])("the session may not write with the headers %j", async (headers) => {
  for (const [method, path] of [
    ["POST", "/api/memories"],
    ["DELETE", `/api/memories/${memory.id}`],
    ["DELETE", "/api/memories?created_before=2030-01-01"],
  ] as const) {
    expect(await send(method, path, headers as Record<string, string>)).toBe(403);
  }
});

test("an ended session, a wrong session and other paths give no access", async () => {
  const headers = { origin: server.origin };
  expect(await send("GET", "/api/memories", { ...headers, cookie: "ctxd-session=x" })).toBe(401);
  expect(await send("POST", "/mcp", headers)).toBe(401);
  const session = await server.sessions.begin(accountId);
  await server.sessions.end(session);
  expect(await send("GET", "/api/memories", { cookie: `ctxd-session=${session}` })).toBe(401);
});

test("a running export continues after the proof has expired, but ends with the session", async () => {
  const session = await server.sessions.begin(accountId);
  const account = await server.accounts.find(accountId);
  if (account === null) throw new Error("no account");
  const principalOf = createSessionPrincipal({
    publicUrl: server.origin,
    sessions: server.sessions,
    visitors: {
      find: async () =>
        (await server.sessions.findAccount(session)) === null
          ? null
          : { account, spaces: [], session, token: "of the forms" },
    },
  });
  const request = new Request(`${server.origin}/api/memories/export`);
  expect((await principalOf(request))?.accountId).toBe(accountId);
  server.clock.advance(11 * 60_000);
  expect((await principalOf(request))?.accountId).toBe(accountId);
  expect(await outcomeOf(principalOf(new Request(request)))).toThrow("fresh proof");
  await server.sessions.end(session);
  expect(await principalOf(request)).toBeNull();
});
