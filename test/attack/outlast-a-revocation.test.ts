import { afterAll, afterEach, beforeAll, beforeEach, expect, mock, spyOn, test } from "bun:test";
import { revokeAccess } from "../../src/access/revoke-access.ts";
import { createPendingSignIns } from "../../src/sign-in/second-step/second-step.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo, type Person } from "../oauth/support/person.ts";
import {
  addApp,
  addPerson,
  enterPassword,
  isSignedIn,
  PASSWORD,
} from "../sign-in/support/factors.ts";

/*
 * A thief of a session expects that it will be ended, and tries to create access that outlasts it. Each
 * request is admitted before the session ends, and a slow database executes it afterwards.
 */

let server: OAuthServer;
let id: string;
let thief: Person;
beforeAll(async () => {
  server = await startOAuthServer();
  ({ id } = await addPerson(server));
});
beforeEach(async () => {
  thief = createPerson(server.origin);
  thief.jar.set("ctxd-session", await server.sessions.begin(id));
});
afterEach(() => mock.restore());
afterAll(() => server.close());

const revokeAll = () => {
  const { db, clock, sessions, keys, oauth } = server;
  const pendingSignIns = createPendingSignIns({ db, clock });
  return revokeAccess(id, { sessions, pendingSignIns, keys, grants: oauth.grants });
};

test("a key that is created while all access is revoked does not survive", async () => {
  const page = formTo(await thief.visit("/keys"), "/keys");
  const { create } = server.keys;
  spyOn(server.keys, "create").mockImplementation(async (...wanted) => {
    await revokeAll();
    return create(...wanted);
  });
  await thief.submit(page, { name: "mine", scope: "write", expires: "" });
  const made = await server.keys.list(id);
  expect(made.map(({ revokedAt }) => revokedAt === null)).toEqual([false]);
});

test("an app that is allowed while all access is revoked does not survive", async () => {
  const { client_id: clientId } = await server.register();
  const page = await thief.visit(server.authorizeUrl(clientId));
  const { create } = server.oauth.codes;
  spyOn(server.oauth.codes, "create").mockImplementation(async (...wanted) => {
    await revokeAll();
    return create(...wanted);
  });
  const answer = await thief.submit(page, { decision: "allow" });
  expect(answer.location ?? "").not.toContain("code=");
  const held = await server.oauth.grants.list(id);
  expect(held.filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
});

test("a second step does not sign in if its sign-in was ended in the meantime", async () => {
  const { app } = await addApp(server, id);
  const { person, page } = await enterPassword(server);
  const { begin } = server.sessions;
  spyOn(server.sessions, "begin").mockImplementation(async (...wanted) => {
    await revokeAll();
    return begin(...wanted);
  });
  await person.submit(page, { code: app.code() });
  expect(await server.sessions.list(id)).toEqual([]);
  expect(await isSignedIn(person)).toBe(false);
  await server.factors.reset(id);
});

test("a new password is not replaced by a person who knew the former one", async () => {
  const page = formTo(await thief.visit("/account"), "/account/password");
  const { setPassword } = server.accounts;
  spyOn(server.accounts, "setPassword").mockImplementation(async (...wanted) => {
    await setPassword(id, "a password of the owner");
    return setPassword(...wanted);
  });
  const answer = await thief.submit(page, { current: PASSWORD, next: "a password of the thief" });
  expect(answer.status).toBe(409);
  const { email } = (await server.accounts.find(id)) ?? { email: "" };
  expect(await server.accounts.verifyPassword(email, "a password of the owner")).not.toBeNull();
  expect(await server.sessions.list(id)).toEqual([]);
  expect(await isSignedIn(thief)).toBe(false);
  await setPassword(id, PASSWORD);
});

test("a password does not sign in if it was changed while it was checked", async () => {
  const { begin } = server.sessions;
  spyOn(server.sessions, "begin").mockImplementation(async (...wanted) => {
    await server.accounts.setPassword(id, "another long password");
    return begin(...wanted);
  });
  const { person, page } = await enterPassword(server);
  expect(page.status).toBe(403);
  expect(await isSignedIn(person)).toBe(false);
});
