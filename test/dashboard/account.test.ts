import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";

const EMAIL = "you@example.com";
const PASSWORD = "correct horse";
const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

let server: OAuthServer;
let accountId: string;
beforeAll(async () => {
  server = await startOAuthServer();
  ({ id: accountId } = await server.accounts.add({ email: EMAIL, password: PASSWORD }));
});
afterAll(() => server.close());

async function signedIn(id = accountId) {
  const person = createPerson(server.origin);
  const session = await server.sessions.begin(id, FIREFOX);
  person.jar.set("ctxd-session", session);
  return { person, session };
}

test("a new password ends all sessions except the one that changed it", async () => {
  const { person, session } = await signedIn();
  const other = await signedIn();
  const form = formTo(await person.visit("/account"), "/account/password");
  for (const [fields, status, problem] of [
    [{ current: "wrong horse", next: "another horse" }, 422, "The current password is wrong."],
    [{ current: PASSWORD, next: "short" }, 422, "A password has 8 to 1024 characters."],
  ] as const) {
    const page = await person.submit(form, fields);
    expect(page.status).toBe(status);
    expect(page.text).toContain(problem);
    expect(page.text).not.toContain(fields.current);
  }
  const page = await person.submit(form, { current: PASSWORD, next: "another horse" });
  expect(page.text).toContain("Your password is changed.");
  expect(person.jar.get("ctxd-session")).not.toBe(session);
  expect(await server.sessions.findAccount(session)).toBeNull();
  expect(await server.sessions.findAccount(other.session)).toBeNull();
  expect(await server.accounts.verifyPassword(EMAIL, PASSWORD)).toBeNull();
  expect(await server.accounts.verifyPassword(EMAIL, "another horse")).not.toBeNull();
  await server.accounts.setPassword(accountId, PASSWORD);
});

test("a stolen session can't be used to guess the password", async () => {
  const { person } = await signedIn();
  const form = formTo(await person.visit("/account"), "/account/password");
  let status = 0;
  for (let count = 0; count < 12 && status !== 429; count++) {
    ({ status } = await person.submit(form, { current: "x", next: "another horse" }));
  }
  expect(status).toBe(429);
  server.clock.advance(3_600_000);
});

test("an account without a password can set one", async () => {
  const member = await server.accounts.add({ email: "ada@example.com", password: null });
  const { person } = await signedIn(member.id);
  const page = await person.visit("/account");
  expect(page.text).toContain("Set a password");
  await person.submit(formTo(page, "/account/password"), { next: PASSWORD });
  expect(await server.accounts.verifyPassword("ada@example.com", PASSWORD)).not.toBeNull();
});

test("sessions are listed with their browser and can be ended one by one or together", async () => {
  await server.sessions.revokeAll(accountId, "");
  const { person, session } = await signedIn();
  const others = [await signedIn(), await signedIn(), await signedIn()].map((each) => each.session);
  const page = await person.visit("/account");
  expect(page.text.match(/Firefox on Linux/g)?.length).toBeGreaterThanOrEqual(4);
  expect(page.text.match(/this one/g)).toHaveLength(1);
  for (const each of [session, ...others]) expect(page.text).not.toContain(each);

  const [first = ""] = others;
  const action = `/account/sessions/${server.sessions.idOf(first)}/revoke`;
  await person.submit(formTo(page, action));
  const lasting = () => Promise.all(others.map((each) => server.sessions.findAccount(each)));
  expect(await lasting()).toEqual([null, accountId, accountId]);
  expect((await person.submit(formTo(page, action))).status).toBe(404);

  const rest = formTo(page, "/account/sessions/revoke-others");
  expect((await person.submit(rest)).text).toContain("Signed out in 2 other browsers.");
  expect(await lasting()).toEqual([null, null, null]);
  expect(await server.sessions.findAccount(session)).toBe(accountId);
});

test("sessions of another account can't be ended", async () => {
  const member = await server.accounts.add({ email: "bob@example.com", password: null });
  const bob = await signedIn(member.id);
  const { person } = await signedIn();
  const path = `/account/sessions/${server.sessions.idOf(bob.session)}/revoke`;
  const page = await person.visit("/account");
  const forged = { ...page, forms: page.forms.map((form) => ({ ...form, action: path })) };
  expect((await person.submit(forged)).status).toBe(404);
  expect(await server.sessions.findAccount(bob.session)).toBe(member.id);
});
