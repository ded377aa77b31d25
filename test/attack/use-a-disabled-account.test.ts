import { afterAll, beforeEach, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";
import { ctxd } from "../support/command-line.ts";
import { outcomeOf } from "../support/outcome.ts";

const PASSWORD = "correct horse battery";
const EMAIL = "mallory@example.com";

const server = await startOAuthServer();
afterAll(server.close);
const owner = await server.signedIn();
const { id: accountId } = await server.accounts.add({ email: EMAIL, password: PASSWORD });

const signIn = async () => {
  const person = createPerson(server.origin);
  const page = await person.submit(await person.visit("/sign-in"), {
    email: EMAIL,
    password: PASSWORD,
  });
  return { person, page };
};

/** Runs `ctxd user`, in another process than the server. */
const run = async (command: string) => {
  const { exitCode } = await ctxd(["user", command, EMAIL], { dataDir: server.folder });
  expect(exitCode).toBe(0);
};
beforeEach(() => server.accounts.enable(accountId));

test("the session of a disabled account is refused", async () => {
  const { person } = await signIn();
  expect((await person.visit("/memories")).url).toEndWith("/memories");
  await run("disable");
  for (const path of ["/", "/memories", "/account", "/memories/export"]) {
    expect((await person.visit(path)).url).toContain("/sign-in");
  }
  const cookie = [...person.jar].map(([name, value]) => `${name}=${value}`).join("; ");
  const answer = await fetch(`${server.origin}/api/memories`, { headers: { cookie } });
  expect(answer.status).toBe(401);
  await run("enable");
  expect((await person.visit("/memories")).url).toContain("/sign-in");
});

test("the right password of a disabled account is refused", async () => {
  await server.accounts.disable(accountId);
  const { page, person } = await signIn();
  expect(page.status).toBe(403);
  expect(page.text).toContain("This account is disabled");
  expect(person.jar.get("ctxd-session")).toBeUndefined();
  await server.securityLog.flush();
  expect(await server.securityLog.list(accountId, {}, { limit: 1 })).toMatchObject([
    { event: "sign_in_failed" },
  ]);
});

test("a wrong password does not reveal that an account is disabled", async () => {
  await server.accounts.disable(accountId);
  const person = createPerson(server.origin);
  const form = await person.visit("/sign-in");
  const page = await person.submit(form, { email: EMAIL, password: "wrong horse" });
  expect(page.status).toBe(401);
  expect(page.text).not.toContain("disabled");
});

test("the key of a disabled account is refused by REST and MCP until the account is enabled", async () => {
  const { key } = await server.keys.create(accountId, {
    name: "x",
    scopes: SCOPES,
    expiresAt: null,
  });
  expect(await server.use(key)).toBe(200);
  await run("disable");
  for (const path of ["/api/memories", "/api/memories/export", "/api/stats", "/mcp"]) {
    const answer = await fetch(server.origin + path, {
      method: path === "/mcp" ? "POST" : "GET",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      ...(path === "/mcp" && { body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }),
    });
    expect({ path, status: answer.status }).toEqual({ path, status: 403 });
    expect(await answer.text()).toContain("This account is disabled");
  }
  await run("enable");
  expect(await server.use(key)).toBe(200);
});

test("access token, refresh token and code of a disabled account are refused", async () => {
  const { client_id: clientId } = await server.register();
  const person = createPerson(server.origin);
  person.jar.set("ctxd-session", await server.sessions.begin(accountId));
  const connect = async () => {
    const { code = null } = await server.consent(person, clientId);
    return code;
  };
  const answer = await server.redeem(clientId, await connect());
  const tokens = answer.body as { access_token: string; refresh_token: string };
  const unused = await connect();
  expect(await server.use(tokens.access_token)).toBe(200);
  await run("disable");
  expect(await server.use(tokens.access_token)).toBe(401);
  expect((await server.renew(clientId, tokens.refresh_token)).status).toBe(400);
  expect((await server.redeem(clientId, unused)).status).toBe(400);
  expect((await person.visit(server.authorizeUrl(clientId))).url).toContain("/sign-in");
  await run("enable");
  expect(await server.use(tokens.access_token)).toBe(401);
  expect((await server.renew(clientId, tokens.refresh_token)).status).toBe(400);
});

test("an open export ends when its account is disabled", async () => {
  const contents = Array.from({ length: 3_000 }, (_, index) => ({
    content: `${index} ${"word ".repeat(500)}`,
  }));
  for (let at = 0; at < contents.length; at += 250) {
    await server.memories.saveAll(wholeAccount(accountId), contents.slice(at, at + 250));
  }
  const { key } = await server.keys.create(accountId, {
    name: "x",
    scopes: SCOPES,
    expiresAt: null,
  });
  const headers = { authorization: `Bearer ${key}` };
  const response = await fetch(`${server.origin}/api/memories/export`, { headers });
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let lines = decoder.decode((await reader?.read())?.value, { stream: true });
  await server.accounts.disable(accountId);
  try {
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      lines += decoder.decode(part.value, { stream: true });
    }
  } catch {}
  expect(lines.split("\n").length).toBeLessThan(2_000);
});

test("the owner can't be disabled, and a member can disable nobody", async () => {
  expect(await outcomeOf(server.accounts.disable(owner.accountId))).toThrow("can't be disabled");
  const update = "UPDATE accounts SET disabled_at = 1 WHERE role = 'owner'";
  expect(() => server.db.sqlite.run(update)).toThrow("can not be disabled");
  await server.accounts.disable(accountId);
  expect(await outcomeOf(server.accounts.handOver(accountId))).toThrow("enable it first");
  expect((await server.accounts.findOwner())?.id).toBe(owner.accountId);
  await server.accounts.enable(accountId);
  const { person } = await signIn();
  const page = formTo(await person.visit("/keys"), "/keys");
  for (const path of [
    `/admin/accounts/${owner.accountId}/disable`,
    `/admin/accounts/${owner.accountId}/revoke`,
    `/admin/accounts/${accountId}/enable`,
  ]) {
    const forged = { ...page, forms: page.forms.map((form) => ({ ...form, action: path })) };
    expect((await person.submit(forged)).status).toBe(403);
  }
});

test("the memories of a disabled account remain, and are available when it is enabled", async () => {
  const before = (await server.memories.stats(wholeAccount(accountId))).memories;
  await server.accounts.disable(accountId);
  await server.accounts.enable(accountId);
  expect((await server.memories.stats(wholeAccount(accountId))).memories).toBe(before);
});
