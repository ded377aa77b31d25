import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import type { Provider } from "../../src/sign-in/providers/provider.ts";
import {
  createIdentities,
  createProviderSignIn,
} from "../../src/sign-in/providers/provider-sign-in.ts";
import { type OAuthServer, REDIRECT_URI, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo, type Page, type Person } from "../oauth/support/person.ts";
import {
  addApp,
  addPasskey,
  addPerson,
  askOptions,
  formWith,
  PASSWORD,
} from "../sign-in/support/factors.ts";
import { rejectionOf } from "../support/outcome.ts";

const MINUTE = 60_000;

let server: OAuthServer;
let id: string;
/** A thief with the cookie of a session that its user has used for a while. */
let thief: Person;
beforeEach(async () => {
  await server?.close();
  server = await startOAuthServer();
  ({ id } = await addPerson(server));
  thief = createPerson(server.origin);
  thief.jar.set("ctxd-session", await server.sessions.begin(id));
  server.clock.advance(11 * MINUTE);
});
afterAll(() => server.close());

const isAsked = ({ text }: Page) => text.includes("<h1>Is it you?</h1>");
const key = ({ text }: Page) => /ctx_[0-9A-Za-z]{43}/.exec(text)?.[0] ?? null;

/** Sends a form, even if the account's pages do not show it. */
async function send(path: string, fields: Record<string, string> = {}): Promise<Page> {
  const page = await thief.visit("/keys");
  const [form] = page.forms;
  const forged = { ...page, forms: [{ action: path, method: "post", fields: form?.fields ?? [] }] };
  return thief.submit(forged, fields);
}

describe("a stolen session", () => {
  test("creates no key", async () => {
    const page = await thief.submit(formTo(await thief.visit("/keys"), "/keys"), { name: "mine" });
    expect(isAsked(page)).toBe(true);
    expect(key(page)).toBeNull();
    expect(isAsked(await send("/connect", { to: "cursor" }))).toBe(true);
    expect(await server.keys.list(id)).toEqual([]);
  });

  test("regenerates no key", async () => {
    const { record } = await server.keys.create(id, {
      name: "of the person",
      scopes: ["memories:read"],
      expiresAt: null,
    });
    expect(isAsked(await send(`/keys/${record.id}/regenerate`))).toBe(true);
    expect((await server.keys.list(id)).map((each) => each.revokedAt)).toEqual([null]);
  });

  test("exports nothing, neither in the dashboard nor by the API", async () => {
    await (await server.client(id)).save({ content: "a secret of the person" });
    expect(isAsked(await thief.visit("/memories/export"))).toBe(true);
    const page = await thief.visit("/api/memories/export", { "sec-fetch-site": "same-origin" });
    expect(page.status).toBe(403);
    expect(page.text).not.toContain("a secret of the person");
    // A key requires no proof, also beside a session cookie.
    const cookie = `ctxd-session=${thief.jar.get("ctxd-session")}`;
    const { status } = await (await server.client(id)).send("GET", "/memories/search?q=x", {
      headers: { cookie },
    });
    expect(status).toBe(200);
  });

  test("allows no app, neither by the consent page nor by a forged form", async () => {
    const { client_id: clientId } = await server.register();
    const page = await thief.visit(server.authorizeUrl(clientId));
    expect(isAsked(page)).toBe(true);
    const parameters = Object.fromEntries(new URL(server.authorizeUrl(clientId)).searchParams);
    const forged = await send("/api/oauth/authorize", {
      ...parameters,
      decision: "allow",
      allowed_scope: "memories:read",
    });
    expect(isAsked(forged)).toBe(true);
    expect(forged.location ?? "").not.toStartWith(REDIRECT_URI);
    expect(await server.oauth.grants.list(id)).toEqual([]);
  });

  test.each([
    ["/account/app", {}],
    ["/account/passkeys", { credential: "{}" }],
    ["/account/recovery-codes", {}],
    ["/account/password", { current: PASSWORD, next: "a password of the thief" }],
    ["/account/password/remove", {}],
    ["/account/providers/oidc/disconnect", {}],
  ])("changes nothing by %s", async (path, fields) => {
    expect(isAsked(await send(path, fields as Record<string, string>))).toBe(true);
    expect(await server.accounts.verifyPassword("you@example.com", PASSWORD)).not.toBeNull();
    expect(await server.factors.isSetUp(id)).toBe(false);
    expect(await server.factors.oneTimeCodes.findUnconfirmed(id)).toBeNull();
  });

  test("removes no second factor", async () => {
    await addApp(server, id);
    expect(isAsked(await send("/account/app/remove"))).toBe(true);
    expect(await server.factors.kinds(id)).toEqual(["code"]);
  });

  test("gets no challenge for a new passkey", async () => {
    const form = (await thief.visit("/keys")).forms.slice(0, 1);
    const page = { ...(await thief.visit("/keys")), forms: form };
    const { status } = await askOptions(server, thief, page, "/account/passkeys/options");
    expect(status).toBe(403);
  });
});

describe("a proof", () => {
  const prove = async (fields: Record<string, string>, field: string) =>
    thief.submit(formWith(await thief.visit("/proof?next=/help/security"), field), fields);

  test("is not given by a wrong password, and tries are limited", async () => {
    const statuses: number[] = [];
    for (let count = 0; count < 11; count++) {
      const page = await prove({ proof_password: `wrong password ${count}` }, "proof_password");
      statuses.push(page.status);
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    expect(isAsked(await thief.visit("/proof"))).toBe(true);
    // The user can still sign in.
    const owner = createPerson(server.origin);
    const page = await owner.visit("/sign-in");
    const signedIn = await owner.submit(page, { email: "you@example.com", password: PASSWORD });
    expect(signedIn.text).toContain("Sign out");
  });

  test("is not given by the password where there is a second factor", async () => {
    await addApp(server, id);
    const page = formWith(await thief.visit("/proof"), "proof_code");
    const answer = await thief.submit(page, { proof_code: null, proof_password: PASSWORD });
    expect(answer.status).toBe(401);
    expect(isAsked(answer)).toBe(true);
  });

  test("is not given by a passkey of another account", async () => {
    await addPasskey(server, id);
    // Adding a passkey has ended the other sessions.
    thief.jar.set("ctxd-session", await server.sessions.begin(id));
    server.clock.advance(11 * MINUTE);
    const other = await addPasskey(server, (await server.account()).accountId);
    const page = formWith(await thief.visit("/proof"), "proof_credential");
    const options = await askOptions(server, thief, page, "/proof/options");
    const credential = other.passkey.get(options, { origin: server.origin });
    expect((await thief.submit(page, { proof_credential: credential })).status).toBe(401);
  });

  test("is valid only for its session and ten minutes, and redirects to no other site", async () => {
    const other = await server.sessions.begin(id);
    server.clock.advance(11 * MINUTE);
    const form = formWith(await thief.visit("/proof?next=/help/security"), "proof_password");
    const evil = { proof_password: PASSWORD, proof_to: "https://evil.example.com/" };
    const page = await thief.submit(form, evil);
    expect(page.location).toBeNull();
    expect(page.status).toBe(200);
    expect(await server.sessions.isProved(thief.jar.get("ctxd-session") ?? "")).toBe(true);
    expect(await server.sessions.isProved(other)).toBe(false);
    server.clock.advance(10 * MINUTE + 1);
    expect(isAsked(await thief.visit("/proof"))).toBe(true);
    // Setting the clock back does not make the proof valid again.
    server.clock.advance(-60 * MINUTE);
    expect(isAsked(await thief.visit("/proof"))).toBe(true);
  });

  test("can't be given by another site's form", async () => {
    const form = formWith(await thief.visit("/proof"), "proof_password");
    const fields = { proof_password: PASSWORD };
    const evil = { origin: "https://evil.example.com", "sec-fetch-site": "cross-site" };
    expect((await thief.submit(form, fields, evil)).status).toBe(403);
    expect((await thief.submit(form, { ...fields, form_token: "x" })).status).toBe(403);
    expect(isAsked(await thief.visit("/proof"))).toBe(true);
  });

  test("submits the interrupted form once, with its fields escaped", async () => {
    const name = `"><script>alert(1)</script>`;
    const asked = await thief.submit(formTo(await thief.visit("/keys"), "/keys"), { name });
    expect(isAsked(asked)).toBe(true);
    expect(asked.text).not.toContain("<script>alert");
    const done = await thief.submit(formWith(asked, "proof_password"), {
      proof_password: PASSWORD,
    });
    expect(key(done)).not.toBeNull();
    expect((await server.keys.list(id)).map((each) => each.name)).toEqual([name]);
  });
});

test("a session of an earlier version, without a proof, requires one", async () => {
  const session = await server.sessions.begin(id);
  server.db.sqlite.run("UPDATE sessions SET proved_at = NULL");
  thief.jar.set("ctxd-session", session);
  expect(isAsked(await thief.visit("/proof"))).toBe(true);
});

test("other sessions end when a factor is set up, and when it is removed", async () => {
  const stolen = thief.jar.get("ctxd-session") ?? "";
  const { person } = await addPasskey(server, id);
  expect(await server.sessions.findAccount(stolen)).toBeNull();
  const later = await server.sessions.begin(id);
  const [passkey] = await server.factors.passkeys.list(id);
  await person.submit(formWith(await person.visit("/account"), "id"), { id: passkey?.id ?? "" });
  expect(await server.factors.isSetUp(id)).toBe(false);
  expect(await server.factors.recoveryCodes.count(id)).toBe(0);
  expect(await server.sessions.findAccount(later)).toBeNull();
  expect(await server.sessions.findAccount(person.jar.get("ctxd-session") ?? "")).toBe(id);
});

test("a consent that waits for a slow client allows nothing once all access is revoked", async () => {
  const clientId = "https://slow.example.com/client.json";
  const redirectUri = "https://slow.example.com/callback";
  const json = {
    client_id: clientId,
    client_name: "Slow",
    redirect_uris: [redirectUri],
    token_endpoint_auth_method: "none",
  };
  let asked = Promise.withResolvers<void>();
  let gate = Promise.resolve();
  await using slow = await startOAuthServer({
    fetchDocument: async () => {
      asked.resolve();
      await gate;
      return { json, maxAge: null };
    },
  });
  const { accountId, person } = await slow.signedIn();
  const form = await person.visit(slow.authorizeUrl(clientId, { redirect_uri: redirectUri }));
  // The cached document expires, and the proof is renewed.
  slow.clock.advance(24 * 60 * MINUTE);
  await slow.sessions.prove(person.jar.get("ctxd-session") ?? "");
  asked = Promise.withResolvers();
  const wait = Promise.withResolvers<void>();
  gate = wait.promise;
  const sent = person.submit(form, { decision: "allow" });
  await asked.promise;
  await slow.oauth.grants.revokeAll(accountId);
  await slow.sessions.revokeAll(accountId);
  wait.resolve();
  const page = await sent;
  expect(page.location).toBeNull();
  expect(await slow.oauth.grants.list(accountId)).toEqual([]);
});

test("a provider that answers after the session was ended is not connected", async () => {
  const identities = createIdentities(server);
  const browsers = ["the session's"];
  const provider: Provider = {
    id: "slow",
    name: "Slow",
    issuer: "https://slow.example.com",
    start: async (state) => new URL(`https://slow.example.com/?state=${state}`),
    async finish() {
      browsers.pop();
      return { issuer: this.issuer, subject: "thief", email: null };
    },
  };
  const signIn = createProviderSignIn({
    ...server,
    identities,
    providers: [provider],
    registration: "first",
  });
  const purpose = { next: null, invitation: null, linkTo: id };
  const { searchParams } = await signIn.start("slow", "the session's", purpose);
  const answer = new URLSearchParams({ state: searchParams.get("state") ?? "", code: "code" });
  expect(await rejectionOf(signIn.finish("slow", async () => browsers, answer))).toMatchObject({
    code: "forbidden",
  });
  expect(await identities.issuers(id)).toEqual([]);
});
