import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, type Person } from "../oauth/support/person.ts";
import {
  addPasskey,
  addPerson,
  askOptions,
  formWith,
  isSignedIn,
} from "../sign-in/support/factors.ts";
import { createRandom } from "../support/random.ts";
import { createSoftPasskey, type Telling } from "../support/soft-passkey.ts";

let server: OAuthServer;
let accountId: string;
let passkey: ReturnType<typeof createSoftPasskey>;
beforeEach(async () => {
  await server?.close();
  server = await startOAuthServer();
  ({ id: accountId } = await addPerson(server));
  ({ passkey } = await addPasskey(server, accountId));
});
afterAll(() => server.close());

const SIGN_IN = "/sign-in/passkey";

async function begin(person: Person = createPerson(server.origin)) {
  const form = formWith(await person.visit(SIGN_IN), "credential");
  const options = await askOptions(server, person, form, `${SIGN_IN}/options`);
  return { person, form, options };
}

/** Signs in with the answer of a passkey. */
async function signIn(
  telling: Partial<Telling> = {},
  by: Pick<ReturnType<typeof createSoftPasskey>, "get"> = passkey,
) {
  const { person, form, options } = await begin();
  const credential = by.get(options, { origin: server.origin, userHandle: accountId, ...telling });
  const page = await person.submit(form, { credential });
  return { person, status: page.status, credential, form };
}

test("genuine passkeys are accepted", async () => {
  const { person, status } = await signIn();
  expect(status).toBe(200);
  expect(await isSignedIn(person)).toBe(true);
});

test("the sign-in page lists no passkeys to a stranger", async () => {
  const { options } = await begin();
  expect(options.allowed).toBeNull();
});

describe("a passkey does not sign in", () => {
  test.each<[string, Partial<Telling>]>([
    ["that signed for another site", { origin: "https://evil.example.com" }],
    ["for this site under another port", { origin: "http://localhost:1" }],
    ["for another domain", { rpId: "evil.example.com" }],
    ["whose device does not know its user", { verified: false }],
    ["that says to be of another account", { userHandle: "acc_0" }],
    ["that has made a passkey instead", { type: "webauthn.create" }],
  ])("%s", async (_, telling) => {
    const { person, status } = await signIn(telling);
    expect(status).toBe(401);
    expect(await isSignedIn(person)).toBe(false);
  });

  test("that does not name its user", async () => {
    const { person, form, options } = await begin();
    const credential = passkey.get(options, { origin: server.origin });
    expect((await person.submit(form, { credential })).status).toBe(401);
    expect(await isSignedIn(person)).toBe(false);
  });

  test("that is unknown, also with the id of a known one", async () => {
    const forged = createSoftPasskey();
    expect((await signIn({}, forged)).status).toBe(401);
    const renamed = {
      get: (...args: Parameters<typeof forged.get>) =>
        forged.get(...args).replaceAll(forged.id, passkey.id),
    };
    expect((await signIn({}, renamed)).status).toBe(401);
  });

  test("that was removed", async () => {
    const [known] = await server.factors.passkeys.list(accountId);
    await server.factors.passkeys.remove(accountId, known?.id ?? "");
    expect((await signIn()).status).toBe(401);
  });

  test("whose counter decreases, because it may be a copy", async () => {
    expect((await signIn({ counter: 5 })).status).toBe(200);
    expect((await signIn({ counter: 5 })).status).toBe(401);
    expect((await signIn({ counter: 4 })).status).toBe(401);
    expect((await signIn({ counter: 6 })).status).toBe(200);
  });

  test.each(["", "{}", "null", "[]", '{"id":1}', "x".repeat(50_000), '{"id":"__proto__"}'])(
    "by %p",
    async (credential) => {
      const { person, form } = await begin();
      expect((await person.submit(form, { credential })).status).toBe(401);
    },
  );
});

describe("an intercepted signature", () => {
  test("is valid once", async () => {
    const { person, credential, form } = await signIn();
    const thief = createPerson(server.origin);
    for (const [name, value] of person.jar) thief.jar.set(name, value);
    thief.jar.delete("ctxd-session");
    expect((await thief.submit(form, { credential })).status).toBe(403);
    const again = await begin(thief);
    expect((await thief.submit(again.form, { credential })).status).toBe(401);
    expect(await isSignedIn(thief)).toBe(false);
  });

  test("is valid only in the browser that requested it", async () => {
    const { options } = await begin();
    const credential = passkey.get(options, { origin: server.origin, userHandle: accountId });
    const thief = await begin();
    expect((await thief.person.submit(thief.form, { credential })).status).toBe(401);
  });

  test("is valid for five minutes", async () => {
    const { person, form, options } = await begin();
    server.clock.advance(5 * 60_000);
    const credential = passkey.get(options, { origin: server.origin, userHandle: accountId });
    expect((await person.submit(form, { credential })).status).toBe(401);
  });

  test("is valid only for its purpose", async () => {
    const person = createPerson(server.origin);
    person.jar.set("ctxd-session", await server.sessions.begin(accountId));
    server.clock.advance(11 * 60_000);
    const form = formWith(await person.visit("/proof?next=/keys"), "proof_credential");
    const options = await askOptions(server, person, form, "/proof/options");
    const credential = passkey.get(options, { origin: server.origin, userHandle: accountId });
    const stranger = await begin();
    expect((await stranger.person.submit(stranger.form, { credential })).status).toBe(401);
    expect((await person.submit(form, { proof_credential: credential })).status).toBe(200);
  });
});

describe("a passkey is not added", () => {
  test.each<[string, Partial<Telling>]>([
    ["that was made for another site", { origin: "https://evil.example.com" }],
    ["for another domain", { rpId: "evil.example.com" }],
    ["whose device does not know its user", { verified: false }],
  ])("%s", async (_, telling) => {
    const other = await server.account();
    const { page } = await addPasskey(server, other.accountId, telling);
    expect(page.status).toBe(422);
    expect(await server.factors.passkeys.list(other.accountId)).toEqual([]);
  });

  test("that belongs to another account", async () => {
    const other = await server.account();
    const person = createPerson(server.origin);
    person.jar.set("ctxd-session", await server.sessions.begin(other.accountId));
    const form = formWith(await person.visit("/account/passkeys/new"), "credential");
    const options = await askOptions(server, person, form, "/account/passkeys/options");
    const credential = passkey.create(options, { origin: server.origin });
    expect((await person.submit(form, { credential, name: "stolen" })).status).toBe(409);
    expect(await server.factors.passkeys.findAccount(passkey.id)).toBe(accountId);
  });

  test("with the challenge of another browser", async () => {
    const victim = createPerson(server.origin);
    victim.jar.set("ctxd-session", await server.sessions.begin(accountId));
    const own = formWith(await victim.visit("/account/passkeys/new"), "credential");
    await askOptions(server, victim, own, "/account/passkeys/options");
    const other = await server.account();
    const thief = createPerson(server.origin);
    thief.jar.set("ctxd-session", await server.sessions.begin(other.accountId));
    const form = formWith(await thief.visit("/account/passkeys/new"), "credential");
    const options = await askOptions(server, thief, form, "/account/passkeys/options");
    const credential = createSoftPasskey().create(options, { origin: server.origin });
    expect((await victim.submit(own, { credential, name: "x" })).status).toBe(422);
    expect(await server.factors.passkeys.list(accountId)).toHaveLength(1);
  });
});

test("another account's passkey can't be removed", async () => {
  const { person } = await addPasskey(server, (await server.account()).accountId);
  const page = formWith(await person.visit("/account"), "id");
  expect((await person.submit(page, { id: passkey.id })).status).toBe(404);
  expect(await server.factors.passkeys.list(accountId)).toHaveLength(1);
});

test("invalid signatures do not break the server", async () => {
  const random = createRandom(14);
  const person = createPerson(server.origin);
  const odd = ["", "A", "====", "\u0000", "💥", "null", "x".repeat(20_000), "AAAA", "__proto__"];
  for (let count = 0; count < 150; count++) {
    const { form, options } = await begin(person);
    const right = passkey.get(options, { origin: server.origin, userHandle: accountId });
    const { response, ...outer } = JSON.parse(right);
    const part = random.pick(["outer", "inner", "text"]);
    if (part === "outer") outer[random.pick(Object.keys(outer)) ?? ""] = random.pick(odd);
    if (part === "inner") response[random.pick(Object.keys(response)) ?? ""] = random.pick(odd);
    let credential = JSON.stringify({ ...outer, response });
    if (part === "text") {
      const at = random.below(credential.length);
      credential = credential.slice(0, at) + random.pick(odd) + credential.slice(at + 1);
    }
    const { status } = await person.submit(form, { credential });
    // `rawId` and the types are not part of the proof. A credential without them is accepted.
    expect([200, 401]).toContain(status);
    person.jar.delete("ctxd-session");
  }
});
