import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { createLog } from "../../src/log.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, type Page, type Person } from "../oauth/support/person.ts";
import { isSignedIn } from "../sign-in/support/factors.ts";
import { CLIENT, startScriptedProvider } from "../sign-in/support/scripted-provider.ts";

const OWNER = "kate@example.com";
const PATH = "/sign-in/with/oidc";
const UNPAIRED = "\ud800";

const script = startScriptedProvider();
const lines: string[] = [];
let server: OAuthServer;
let ownerId: string;
beforeAll(async () => {
  const oidc = { ...CLIENT, issuer: script.at, name: "Acme" };
  const log = createLog({ logLevel: "debug", logFormat: "text" }, (line) => lines.push(line));
  const providers = { github: null, google: null, oidc };
  server = await startOAuthServer({ log, config: { providers } });
  ownerId = (await server.accounts.add({ email: OWNER, password: "correct horse battery" })).id;
});
beforeEach(() => {
  script.reset();
  lines.length = 0;
});
afterAll(() => Promise.all([server.close(), script.stop()]));

/** Begins a sign-in, and returns what the provider is asked. */
async function begin(person: Person) {
  const { location } = await person.visit(PATH);
  const asked = new URL(location ?? "").searchParams;
  return { state: asked.get("state") ?? "", nonce: asked.get("nonce") ?? "" };
}

const comeBack = (person: Person, answer: Record<string, string>): Promise<Page> =>
  person.visit(`${PATH}/callback?${new URLSearchParams(answer)}`);

/** Signs in as whoever these claims say. */
async function enter(claims: Record<string, unknown>, header = {}) {
  const person = createPerson(server.origin);
  const { state, nonce } = await begin(person);
  script.grant({ nonce, email: "", email_verified: false, ...claims }, header);
  return { person, page: await comeBack(person, { code: "code", state }) };
}

const accountOf = (person: Person) =>
  server.sessions.findAccount(person.jar.get("ctxd-session") ?? "");
const verified = (email: string) => ({ email, email_verified: true });

describe("a verified address that only looks like the owner's opens nothing", () => {
  test.each([
    ["with the Kelvin sign, whose lower case is k", "\u212Aate@example.com"],
    ["with a trailing NUL", `${OWNER}\0`],
    ["with a NUL and more", `${OWNER}\0.evil.example`],
    ["with a space that no browser trims", `\u3000${OWNER}`],
    ["with a byte order mark", `\uFEFF${OWNER}`],
    ["with a soft hyphen", "ka\u00ADte@example.com"],
    ["in full width", "\uFF4Bate@example.com"],
    ["in Cyrillic", "k\u0430te@example.com"],
    ["with a combining dot", "kate\u0307@example.com"],
    ["of two people", `mallory@example.com,${OWNER}`],
    ["with a name", `Kate <${OWNER}>`],
    ["in a list", [OWNER]],
  ])("%s", async (form, email) => {
    const { person, page } = await enter({ sub: form, email, email_verified: true });
    expect(page.status).toBeOneOf([403, 422]);
    expect(page.text).toContain("Request refused");
    expect(await isSignedIn(person)).toBe(false);
    expect(await server.accounts.list()).toHaveLength(1);
  });
});

describe("an address that the provider gives to another person", () => {
  const email = "member@example.com";
  let memberId: string;
  beforeAll(async () => {
    memberId = (await server.accounts.add({ email, password: null })).id;
    const { person } = await enter({ sub: "Member", ...verified(email) });
    expect(await accountOf(person)).toBe(memberId);
  });

  test.each(["another", "member", "Member ", "MEMBER"])("does not open it to %p", async (sub) => {
    const { person, page } = await enter({ sub, ...verified(email) });
    expect(page.status).toBe(403);
    expect(page.text).toContain("signs in as another user of this provider");
    expect(await isSignedIn(person)).toBe(false);
    // Nor later.
    expect((await enter({ sub })).page.status).toBe(403);
  });

  test("stays with its first person, whatever address that has", async () => {
    const { person } = await enter({ sub: "Member", ...verified(OWNER) });
    expect(await accountOf(person)).toBe(memberId);
  });

  test("opens it to one of several who come at once", async () => {
    const { id } = await server.accounts.add({ email: "new@example.com", password: null });
    const people = await Promise.all(
      Array.from({ length: 6 }, async (_, number) => {
        const person = createPerson(server.origin);
        return { person, number, ...(await begin(person)) };
      }),
    );
    // The token endpoint answers each code with the identity that its sign-in asked for.
    script.answer("/token", () => {
      const last = new URLSearchParams(script.requests.at(-1)?.body ?? "").get("code");
      const { nonce, number } = people[Number(last)] ?? { nonce: "", number: -1 };
      return script.tokens({ sub: `new ${number}`, nonce, ...verified("new@example.com") });
    });
    await Promise.all(
      people.map(({ person, state, number }) => comeBack(person, { code: `${number}`, state })),
    );
    const accounts = await Promise.all(people.map(({ person }) => accountOf(person)));
    expect(accounts.filter((account) => account === id)).toHaveLength(1);
    expect(accounts.filter((account) => account !== null)).toHaveLength(1);
  });
});

test.each([
  ["half a character", UNPAIRED],
  ["a NUL", "\0"],
  ["an escape sequence", "\u001b[31m"],
])("a subject with %s is refused: a database may take two of them for one", async (_, end) => {
  const { page, person } = await enter({ sub: `you${end}`, ...verified(OWNER) });
  expect(page.status).toBe(403);
  expect(await isSignedIn(person)).toBe(false);
  for (const sub of [`you${end}`, "you\uFFFD", "you", "you\udc00"]) {
    expect((await enter({ sub })).page.status).toBe(403);
  }
});

describe("an ID token signs nobody in", () => {
  const key = { kid: "of the provider" };

  test.each([
    ["without a signature", { alg: "none" }],
    ["signed with the public key as a secret", { alg: "HS256", ...key }],
  ])("%s, whatever the metadata allows", async (_, header) => {
    const id_token_signing_alg_values_supported = [header.alg, "RS256"];
    script.publish({ id_token_signing_alg_values_supported, jwks_uri: `${script.at}/keys` });
    const { person, page } = await enter({ sub: "owner", ...verified(OWNER) }, header);
    expect(page.status).toBe(503);
    expect(await isSignedIn(person)).toBe(false);
    // A list of keys is never fetched, so it can't be long or hostile.
    expect(script.requests.map(({ path }) => path)).not.toContain("/keys");
  });

  test("of another browser's sign-in, with a code that a thief brings", async () => {
    const thief = await begin(createPerson(server.origin));
    const victim = createPerson(server.origin);
    const { state } = await begin(victim);
    script.grant({ sub: "mallory", nonce: thief.nonce, ...verified(OWNER) });
    expect((await comeBack(victim, { code: "of the thief", state })).status).toBe(403);
    expect(await isSignedIn(victim)).toBe(false);
  });
});

describe("what a provider says reaches no page and no line of the log", () => {
  const HOSTILE = `<img src=x onerror=alert(1)>\u001b[2J\n{"level":"error"}`;
  const SAYS = { error_description: HOSTILE, error_uri: "javascript:alert(1)" };

  const expectSilence = ({ text }: Page) => {
    expect(text).not.toContain("onerror");
    expect(text).not.toContain("javascript:");
    for (const line of lines) expect(line).not.toMatch(/onerror|\p{Cc}/u);
  };

  test("in the address of its answer", async () => {
    const person = createPerson(server.origin);
    const { state } = await begin(person);
    const page = await comeBack(person, { error: HOSTILE, state, ...SAYS });
    expect(page.text).toContain("The provider did not sign you in.");
    expectSilence(page);
  });

  test.each([200, 400, 401])("in an error of status %d in the place of tokens", async (status) => {
    const person = createPerson(server.origin);
    const { state } = await begin(person);
    const headers = { "www-authenticate": `Bearer error_description="<img onerror=x>"` };
    script.answer("/token", () => Response.json({ error: HOSTILE, ...SAYS }, { status, headers }));
    const page = await comeBack(person, { code: "code", state });
    expect(page.status).toBe(503);
    expect(page.text).toContain("Acme can&#x27;t be asked right now.");
    expectSilence(page);
  });

  test("in names and claims", async () => {
    const names = { name: HOSTILE, preferred_username: HOSTILE, picture: SAYS.error_uri };
    expectSilence((await enter({ sub: HOSTILE, ...names, ...verified(HOSTILE) })).page);
    expectSilence((await enter({ sub: "named", ...names, ...verified(HOSTILE) })).page);
  });
});

test("all of this left the owner's account as it was", async () => {
  expect(await server.accounts.findByEmail(OWNER)).toMatchObject({ id: ownerId, role: "owner" });
  expect(await server.rows("identities")).not.toContainEqual(
    expect.objectContaining({ account_id: ownerId }),
  );
});
