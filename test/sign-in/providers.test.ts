import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Config } from "../../src/config/config.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo, type Page, type Person } from "../oauth/support/person.ts";
import { freePort } from "../support/free-port.ts";
import { type OpenIdProvider, startWithProvider } from "./support/openid-provider.ts";
import { CLIENT } from "./support/scripted-provider.ts";

const EMAIL = "you@example.com";
const PASSWORD = "correct horse";
const NAME = `<b>Single "sign-on"`;

let server: OAuthServer;
let open: OAuthServer;
let provider: OpenIdProvider;
let openProvider: OpenIdProvider;
beforeAll(async () => {
  const start = async (registration: Config["registration"]) => {
    const both = await startWithProvider(NAME, { registration });
    await both[0].accounts.add({ email: EMAIL, password: PASSWORD });
    return both;
  };
  [server, provider] = await start("first");
  [open, openProvider] = await start("open");
});
afterAll(async () => {
  await Promise.all([server.close(), open.close(), provider.close(), openProvider.close()]);
});

const isSignedIn = ({ text }: Page) => text.includes("Sign out");
const verified = (email: string) => ({ email, email_verified: true });

/** Signs in at the provider, from the link on our page to the page after the sign-in. */
async function through(
  person: Person,
  subject: string,
  claims: { email?: string; email_verified?: boolean },
  { path = "/sign-in/with/oidc", at = provider } = {},
): Promise<Page> {
  const { location } = await person.visit(path);
  return person.visit(await at.signIn(location, subject, claims));
}

test("a verified address signs in to its account, and links the identity to the account", async () => {
  const person = createPerson(server.origin);
  const page = await person.visit("/sign-in?next=/keys");
  expect(page.text).toContain("Continue with &lt;b&gt;Single &quot;sign-on&quot;");
  const path = "/sign-in/with/oidc?next=/keys";
  const done = await through(person, "you", verified("You@example.com"), { path });
  expect(isSignedIn(done)).toBe(true);
  expect(new URL(done.url).pathname).toBe("/keys");
  const session = person.jar.get("ctxd-session") ?? "";
  expect(await server.sessions.findAccount(session)).toBe(
    (await server.accounts.findByEmail(EMAIL))?.id ?? "",
  );
  expect(await server.accounts.verifyPassword(EMAIL, PASSWORD)).not.toBeNull();

  const later = createPerson(server.origin);
  const again = await through(later, "you", { email: "new@example.com", email_verified: false });
  expect(again.text).toContain(EMAIL);
});

test.each([
  ["an address that is not verified", { email: EMAIL, email_verified: false }],
  ["an address without `email_verified`", { email: EMAIL }],
  ["no address", {}],
  ["an address that has no account", verified("stranger@example.com")],
])("%s opens nothing", async (_, claims) => {
  const person = createPerson(server.origin);
  const page = await through(person, "mallory", claims);
  expect(page.status).toBe(403);
  expect(person.jar.has("ctxd-session")).toBe(false);
  expect(await server.accounts.findByEmail("stranger@example.com")).toBeNull();
});

test("an invitation makes an account, if it is for this address", async () => {
  const { secret } = await server.invitations.create("ada@example.com");
  const page = await createPerson(server.origin).visit(`/join/${secret}`);
  const path = /href="(\/sign-in\/with\/oidc\?invitation=[^"]+)"/.exec(page.text)?.[1] ?? "";
  const eve = createPerson(server.origin);
  const refused = await through(eve, "eve", verified("eve@example.com"), { path });
  expect(refused.status).toBe(403);
  expect(await server.invitations.find(secret)).not.toBeNull();
  const ada = createPerson(server.origin);
  expect(isSignedIn(await through(ada, "ada", verified("ada@example.com"), { path }))).toBe(true);
  const account = await server.accounts.findByEmail("ada@example.com");
  expect(account).toMatchObject({ role: "member" });
  expect(await server.accounts.hasPassword(account?.id ?? "")).toBe(false);
  expect(await server.invitations.find(secret)).toBeNull();
});

describe("an answer is refused", () => {
  const refused = async (person: Person, address: string) => {
    const page = await person.visit(address);
    expect(page.status).toBe(403);
    expect(page.text).toContain("This sign-in has expired, or began elsewhere.");
    expect(person.jar.has("ctxd-session")).toBe(false);
  };

  test("in another browser than the one that began the sign-in", async () => {
    const person = createPerson(server.origin);
    const { location } = await person.visit("/sign-in/with/oidc");
    const back = await provider.signIn(location, "you", verified(EMAIL));
    await refused(createPerson(server.origin), back);
    const other = createPerson(server.origin);
    await other.visit("/sign-in");
    await refused(other, back);
  });

  test("a second time", async () => {
    const person = createPerson(server.origin);
    const { location } = await person.visit("/sign-in/with/oidc");
    const back = await provider.signIn(location, "you", verified(EMAIL));
    expect(isSignedIn(await person.visit(back))).toBe(true);
    const again = createPerson(server.origin);
    for (const [name, value] of person.jar) if (name === "ctxd-visit") again.jar.set(name, value);
    await refused(again, back);
  });

  test("without a state, with an invented state, and for another provider", async () => {
    const person = createPerson(server.origin);
    const { location } = await person.visit("/sign-in/with/oidc");
    const back = new URL(await provider.signIn(location, "you", verified(EMAIL)));
    await refused(person, "/sign-in/with/oidc/callback?code=x");
    await refused(person, "/sign-in/with/oidc/callback?code=x&state=made-up");
    await refused(person, back.href.replace("/oidc/", "/github/"));
  });

  test("when the person denied the sign-in", async () => {
    const person = createPerson(server.origin);
    const { location } = await person.visit("/sign-in/with/oidc");
    const state = new URL(location ?? "").searchParams.get("state") ?? "";
    const query = new URLSearchParams({ error: "access_denied", state });
    const page = await person.visit(`/sign-in/with/oidc/callback?${query}`);
    expect(page.text).toContain("The provider did not sign you in.");
  });
});

test("the authorization request has state, nonce and PKCE, and the next page is kept on this server", async () => {
  const person = createPerson(server.origin);
  const { location } = await person.visit("/sign-in/with/oidc?next=//evil.example.com/");
  const asked = new URL(location ?? "").searchParams;
  for (const name of ["state", "nonce", "code_challenge"]) {
    expect(asked.get(name)?.length).toBeGreaterThanOrEqual(43);
  }
  expect(asked.get("code_challenge_method")).toBe("S256");
  expect(asked.get("scope")).toBe("openid email");
  const page = await person.visit(await provider.signIn(location, "you", verified(EMAIL)));
  expect(page.url).toStartWith(`${server.origin}/`);
});

test("a page reports a provider that is not set up or is unreachable", async () => {
  const person = createPerson(server.origin);
  expect((await person.visit("/sign-in/with/google")).status).toBe(404);
  const oidc = { ...CLIENT, issuer: `http://localhost:${freePort()}`, name: "Away" };
  await using lonely = await startOAuthServer({
    config: { providers: { github: null, google: null, oidc } },
  });
  await lonely.accounts.add({ email: EMAIL, password: PASSWORD });
  const page = await createPerson(lonely.origin).visit("/sign-in/with/oidc");
  expect(page.status).toBe(503);
  expect(page.text).toContain("Away can&#x27;t be asked right now.");
});

test("a provider can't create the owner of a new server", async () => {
  const [server, at] = await startWithProvider(NAME, { registration: "open" });
  await using empty = server;
  const page = await through(createPerson(empty.origin), "you", verified(EMAIL), { at });
  expect(page.status).toBe(403);
  expect(await empty.accounts.list()).toEqual([]);
  await at.close();
});

test("a sign-in that was begun in a session ends with that session", async () => {
  const person = createPerson(server.origin);
  const { id } = await server.accounts.add({ email: "late@example.com", password: PASSWORD });
  person.jar.set("ctxd-session", await server.sessions.begin(id));
  const account = await person.visit("/account");
  const path = /href="(\/sign-in\/with\/oidc\?link=[^"]+)"/.exec(account.text)?.[1] ?? "";
  const { location } = await person.visit(path);
  const back = await provider.signIn(location, "late", {});
  await server.accounts.setPassword(id, "another password");
  expect((await person.visit(back)).status).toBe(403);
  expect((await through(createPerson(server.origin), "late", {})).status).toBe(403);
});

test("an account that was invited with another person's address does not get that person's identity", async () => {
  await server.accounts.add({ email: "taken@example.com", password: "known to mallory" });
  const person = createPerson(server.origin);
  const page = await through(person, "taken", verified("taken@example.com"));
  expect(page.status).toBe(403);
  expect(page.text).toContain("sign in with it");
});

describe("where anyone may sign up", () => {
  test("a verified address makes an account", async () => {
    const person = createPerson(open.origin);
    const page = await through(person, "new", verified("new@example.com"), { at: openProvider });
    expect(isSignedIn(page)).toBe(true);
    expect(await open.accounts.findByEmail("new@example.com")).toMatchObject({ role: "member" });
  });

  test("an account with a password is connected only by a person who is signed in to it", async () => {
    const stranger = createPerson(open.origin);
    const refused = await through(stranger, "you", verified(EMAIL), { at: openProvider });
    expect(refused.status).toBe(403);
    expect(refused.text).toContain("sign in with it");

    const owner = createPerson(open.origin);
    const id = (await open.accounts.findByEmail(EMAIL))?.id ?? "";
    owner.jar.set("ctxd-session", await open.sessions.begin(id));
    const account = await owner.visit("/account");
    const path = /href="(\/sign-in\/with\/oidc\?link=[^"]+)"/.exec(account.text)?.[1] ?? "";
    const forged = await owner.visit(`/sign-in/with/oidc?link=${"0".repeat(64)}`);
    expect(forged.status).toBe(403);
    const linked = await through(owner, "you", verified("else@example.com"), {
      path,
      at: openProvider,
    });
    expect(linked.text).toContain("Disconnect &lt;b&gt;Single");
    const later = createPerson(open.origin);
    expect((await through(later, "you", {}, { at: openProvider })).text).toContain(EMAIL);

    const other = createPerson(open.origin);
    const { id: otherId } = await open.accounts.add({ email: "x@example.com", password: PASSWORD });
    other.jar.set("ctxd-session", await open.sessions.begin(otherId));
    const theirs = /href="(\/sign-in\/with\/oidc\?link=[^"]+)"/.exec(
      (await other.visit("/account")).text,
    )?.[1];
    const taken = await through(other, "you", {}, { path: theirs ?? "", at: openProvider });
    expect(taken.status).toBe(409);

    const page = await owner.visit("/account");
    await owner.submit(formTo(page, "/account/providers/oidc/disconnect"));
    const after = createPerson(open.origin);
    const closed = await through(after, "you", verified(EMAIL), { at: openProvider });
    expect(closed.status).toBe(403);
  });

  test("the only sign-in method can't be disconnected", async () => {
    const person = createPerson(open.origin);
    await through(person, "only", verified("only@example.com"), { at: openProvider });
    const page = await person.visit("/account");
    const kept = await person.submit(formTo(page, "/account/providers/oidc/disconnect"));
    expect(kept.status).toBe(409);
    expect(kept.text).toContain("Set a password first");
  });
});
