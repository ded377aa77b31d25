import { afterAll, beforeEach, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo, type Page } from "../oauth/support/person.ts";
import {
  addApp,
  addPasskey,
  addPerson,
  askOptions,
  enterPassword,
  formWith,
  isSignedIn,
  PASSWORD,
} from "../sign-in/support/factors.ts";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

let server: OAuthServer;
beforeEach(async () => {
  await server?.close();
  server = await startOAuthServer();
});
afterAll(() => server.close());

const isSecondStep = ({ text }: Page) => text.includes("<h1>Second step</h1>");

test("a thief with only the password gets no session, and no page that requires one", async () => {
  const { id } = await addPerson(server);
  await addApp(server, id);
  const { person: thief, page } = await enterPassword(server, { next: "/memories/export" });
  expect(isSecondStep(page)).toBe(true);
  expect(thief.jar.has("ctxd-session")).toBe(false);
  expect(await isSignedIn(thief)).toBe(false);
  expect(await server.sessions.list(id)).toEqual([]);
  // The cookie of the pending sign-in is not a session.
  thief.jar.set("ctxd-session", thief.jar.get("ctxd-pending") ?? "");
  expect(await isSignedIn(thief)).toBe(false);
  const cookie = `ctxd-session=${thief.jar.get("ctxd-pending")}`;
  const api = await fetch(`${server.origin}/api/memories`, { headers: { cookie } });
  expect(api.status).toBe(401);
});

test("a thief with the password can't skip the second step by a passkey of another account", async () => {
  const { id } = await addPerson(server);
  await addPasskey(server, id);
  const own = await server.account();
  const { passkey } = await addPasskey(server, own.accountId);
  const { person: thief, page } = await enterPassword(server);
  const form = formWith(page, "credential");
  for (const userHandle of [id, own.accountId, undefined]) {
    const options = await askOptions(server, thief, form, "/sign-in/second-step/options");
    expect(options.allowed).not.toContain(passkey.id);
    const telling = { origin: server.origin, ...(userHandle && { userHandle }) };
    const answer = await thief.submit(form, { credential: passkey.get(options, telling) });
    expect(answer.status).toBe(401);
    expect(await isSignedIn(thief)).toBe(false);
  }
});

test("a thief can try at most five codes for each entry of the password", async () => {
  const { id } = await addPerson(server);
  const { app } = await addApp(server, id);
  const { person: thief, page } = await enterPassword(server);
  const form = formWith(page, "code");
  const statuses: number[] = [];
  for (let count = 0; count < 6; count++) {
    const code = `wrong-${count}`;
    statuses.push((await thief.submit(form, { code })).status);
  }
  expect(statuses).toEqual([401, 401, 401, 401, 403, 403]);
  expect((await thief.submit(form, { code: app.code() })).status).toBe(403);
  expect(await isSignedIn(thief)).toBe(false);
});

test("a thief can try at most ten codes a day from any address, and the user can still sign in", async () => {
  const { id } = await addPerson(server);
  const { app, codes } = await addApp(server, id);
  const owner = createPerson(server.origin);
  const ownersFirst = formWith((await enterPasswordAs(owner)).page, "code");
  expect((await owner.submit(ownersFirst, { code: app.code() })).text).toContain("Sign out");
  owner.jar.delete("ctxd-session");

  const guess = async () => {
    const { person: thief, page } = await enterPassword(server);
    const code = app.code(5);
    return (await thief.submit(formWith(page, "code"), { code })).status;
  };
  for (let count = 0; count < 10; count++) expect(await guess()).toBe(401);
  expect(await guess()).toBe(429);
  server.clock.advance(DAY / 10);
  expect(await guess()).toBe(401);
  expect(await guess()).toBe(429);

  // In a browser that the user has used before, the code is accepted.
  const again = formWith((await enterPasswordAs(owner)).page, "code");
  expect((await owner.submit(again, { code: app.code() })).text).toContain("Sign out");
  // In another browser, a recovery code is accepted.
  const { person: elsewhere, page } = await enterPassword(server);
  const [code = ""] = codes;
  expect((await elsewhere.submit(formWith(page, "code"), { code })).text).toContain("Sign out");
});

test("a browser in which a thief signed in before the second factor was set up gives no more tries", async () => {
  const { id } = await addPerson(server);
  const thieves = await Promise.all([1, 2, 3].map(() => enterPassword(server)));
  for (const { person } of thieves) expect(await isSignedIn(person)).toBe(true);
  server.clock.advance(MINUTE);
  const { app } = await addApp(server, id);
  await server.sessions.revokeAll(id);
  const statuses: number[] = [];
  for (const { person } of thieves) {
    for (let count = 0; count < 5; count++) {
      const form = formWith((await enterPasswordAs(person)).page, "code");
      statuses.push((await person.submit(form, { code: app.code(5) })).status);
    }
  }
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(5);
});

async function enterPasswordAs(person: ReturnType<typeof createPerson>) {
  const form = await person.visit("/sign-in");
  const page = await person.submit(form, { email: "you@example.com", password: PASSWORD });
  return { person, page };
}

test("an observed code is refused after the user has used it", async () => {
  const { id } = await addPerson(server);
  const { app } = await addApp(server, id);
  const seen = app.code();
  const first = await enterPassword(server);
  await first.person.submit(formWith(first.page, "code"), { code: seen });
  expect(await isSignedIn(first.person)).toBe(true);

  const thief = await enterPassword(server);
  expect((await thief.person.submit(formWith(thief.page, "code"), { code: seen })).status).toBe(
    401,
  );
  // The code of the step before is refused too, although it has not expired.
  const former = await enterPassword(server);
  const earlier = { code: app.code(-1) };
  expect((await former.person.submit(formWith(former.page, "code"), earlier)).status).toBe(401);
  server.clock.advance(30_000);
  const late = { code: app.code(-1) };
  expect((await thief.person.submit(formWith(thief.page, "code"), late)).status).toBe(401);
});

test("a recovery code is valid once, and replaced codes are invalid", async () => {
  const { id } = await addPerson(server);
  const { codes } = await addApp(server, id);
  const [used = "", other = ""] = codes;
  const enter = async (code: string) => {
    const { person, page } = await enterPassword(server);
    return (await person.submit(formWith(page, "code"), { code })).status;
  };
  expect(await enter(used)).toBe(200);
  expect(await enter(used)).toBe(401);
  const [fresh = ""] = await server.factors.recoveryCodes.replace(id);
  expect(await enter(other)).toBe(401);
  expect(await enter(fresh)).toBe(200);
  const kept = JSON.stringify(await server.rows("recovery_codes"));
  for (const code of [...codes, fresh]) expect(kept).not.toContain(code);
});

test("if the same code is sent twice at once, one of the requests signs in", async () => {
  const { id } = await addPerson(server);
  const { codes, app } = await addApp(server, id);
  for (const code of [app.code(), codes[0] ?? ""]) {
    const before = (await server.sessions.list(id)).length;
    const { person, page } = await enterPassword(server);
    const form = formWith(page, "code");
    await Promise.all([1, 2, 3, 4].map(() => person.submit(form, { code })));
    expect((await server.sessions.list(id)).length - before).toBe(1);
  }
});

test("a pending sign-in of a thief ends when the password or the factor changes", async () => {
  const { id } = await addPerson(server);
  const { app } = await addApp(server, id);
  const begun = await enterPassword(server);
  await server.accounts.setPassword(id, "another horse battery");
  const late = await begun.person.submit(formWith(begun.page, "code"), { code: app.code() });
  expect(late.status).toBe(403);
  expect(await isSignedIn(begun.person)).toBe(false);
});

test("a pending sign-in of a thief ends when the user revokes all access", async () => {
  const { id } = await addPerson(server);
  const { app } = await addApp(server, id);
  const begun = await enterPassword(server);
  const owner = createPerson(server.origin);
  owner.jar.set("ctxd-session", await server.sessions.begin(id));
  await owner.submit(formTo(await owner.visit("/account/revoke"), "/account/revoke"));
  const late = await begun.person.submit(formWith(begun.page, "code"), { code: app.code() });
  expect(late.status).toBe(403);
  expect(await isSignedIn(begun.person)).toBe(false);
});
