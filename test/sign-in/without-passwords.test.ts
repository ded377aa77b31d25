import { afterAll, beforeAll, expect, test } from "bun:test";
import { readConfig } from "../../src/config/config.ts";
import { ConfigError } from "../../src/config/settings.ts";
import type { OAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";
import { SET_UP_LINK } from "../support/server.ts";
import {
  addApp,
  addPasskey,
  addPerson,
  formWith,
  isSignedIn,
  PASSWORD,
} from "./support/factors.ts";
import { type OpenIdProvider, startWithProvider } from "./support/openid-provider.ts";

const EMAIL = "you@example.com";

let server: OAuthServer;
let provider: OpenIdProvider;
beforeAll(async () => {
  [server, provider] = await startWithProvider("Test", { passwords: false });
});
afterAll(async () => {
  await server.close();
  await provider.close();
});

async function throughProvider(person = createPerson(server.origin)) {
  const { location } = await person.visit("/sign-in/with/oidc");
  const claims = { email: EMAIL, email_verified: true };
  const back = await provider.signIn(location, "subject", claims);
  return { person, page: await person.visit(back) };
}

test("the owner sets the server up without a password, and signs in through the provider", async () => {
  const person = createPerson(server.origin);
  const page = await person.visit(SET_UP_LINK);
  expect(page.text).not.toContain('type="password"');
  await person.submit(page, { email: EMAIL });
  expect(await isSignedIn(person)).toBe(true);
  const { id = "" } = (await server.accounts.findByEmail(EMAIL)) ?? {};
  expect(await server.accounts.hasPassword(id)).toBe(false);
  const again = await throughProvider();
  expect(await isSignedIn(again.person)).toBe(true);
});

test("the password of an account does not sign in, and no page asks for one", async () => {
  await addPerson(server, "old@example.com");
  const person = createPerson(server.origin);
  const page = await person.visit("/sign-in");
  expect(page.text).not.toContain('type="password"');
  expect(page.text).toContain("Continue with Test");
  const token = (await person.visit("/sign-in/recovery")).forms[0]?.fields ?? [];
  const form = { ...page, forms: [{ action: "/sign-in", method: "post", fields: token }] };
  const refused = await person.submit(form, { email: "old@example.com", password: PASSWORD });
  expect(refused.status).toBe(403);
  expect(refused.text).toContain("Passwords are switched off on this server.");
  expect(await isSignedIn(person)).toBe(false);
});

test("an invitation is accepted only through the provider", async () => {
  const { secret } = await server.invitations.create("ada@example.com");
  const person = createPerson(server.origin);
  const page = await person.visit(`/join/${secret}`);
  expect(page.text).toContain("Continue with Test");
  expect(page.forms).toEqual([]);
  const token = (await person.visit("/sign-in/recovery")).forms[0]?.fields ?? [];
  const form = { ...page, forms: [{ action: `/join/${secret}`, method: "post", fields: token }] };
  const password = { email: "ada@example.com", password: PASSWORD };
  expect((await person.submit(form, password)).status).toBe(403);
  expect(await server.accounts.findByEmail("ada@example.com")).toBeNull();
});

test("the account page sets no password", async () => {
  const { person } = await throughProvider();
  const page = await person.visit("/account");
  expect(page.text).not.toContain('type="password"');
  const forged = { ...page, forms: [{ ...page.forms[0], action: "/account/password" }] };
  const [form] = formTo(page, "/sign-out").forms;
  const sent = {
    ...forged,
    forms: [{ action: "/account/password", method: "post", fields: form?.fields ?? [] }],
  };
  const answer = await person.submit(sent, { next: PASSWORD });
  expect(answer.status).toBe(403);
  const { id = "" } = (await server.accounts.findByEmail(EMAIL)) ?? {};
  expect(await server.accounts.hasPassword(id)).toBe(false);
});

test("a sign-in through a provider requires the second factor of the account", async () => {
  const { id = "" } = (await server.accounts.findByEmail(EMAIL)) ?? {};
  const { app } = await addApp(server, id);
  const { person, page } = await throughProvider();
  expect(page.text).toContain("<h1>Second step</h1>");
  expect(await isSignedIn(person)).toBe(false);
  await person.submit(formWith(page, "code"), { code: app.code() });
  expect(await isSignedIn(person)).toBe(true);
  await server.factors.reset(id);
});

test("a person whose only sign-in method is the provider confirms actions only there", async () => {
  const { person } = await throughProvider();
  server.clock.advance(11 * 60_000);
  const page = await person.visit("/proof?next=/help/security");
  expect(page.text).toContain("Continue with Test");
  expect(page.text).toContain("next=%2Fhelp%2Fsecurity");
  expect(page.forms).toEqual([]);
  await throughProvider(person);
  expect((await person.visit("/proof?next=/help/security")).url).toEndWith("/help/security");
});

test("the provider can be disconnected if there is a passkey, which then can't be removed", async () => {
  await throughProvider();
  const { id = "" } = (await server.accounts.findByEmail(EMAIL)) ?? {};
  const { person } = await throughProvider();
  const disconnect = "/account/providers/oidc/disconnect";
  const refused = await person.submit(formTo(await person.visit("/account"), disconnect));
  expect(refused.text).toContain("Add a passkey first: this is your only way in.");
  const { person: other } = await addPasskey(server, id);
  await other.submit(formTo(await other.visit("/account"), disconnect));
  expect(await server.factors.passkeys.count(id)).toBe(1);
  const page = await other.submit(formWith(await other.visit("/account"), "id"));
  expect(page.status).toBe(409);
  expect(await server.factors.passkeys.count(id)).toBe(1);
});

test("passwords can't be switched off without another sign-in method", () => {
  const env = { CTXD_PASSWORDS: "off", HOME: "/home/you" };
  expect(() => readConfig(env, {})).toThrow(ConfigError);
  expect(() => readConfig(env, {})).toThrow(/^CTXD_PASSWORDS=off needs another way to sign in/);
  expect(() => readConfig({ ...env, CTXD_PASSWORDS: "no" }, {})).toThrow("use on, off");
  const github = { CTXD_GITHUB_CLIENT_ID: "a", CTXD_GITHUB_CLIENT_SECRET: "b" };
  expect(readConfig({ ...env, ...github }, {}).passwords).toBe(false);
});
