import { afterAll, describe, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";

const EMAIL = "you@example.com";
const EVE = "eve@example.com";
const PASSWORD = "correct horse";
/** A session cookie that an attacker chose. */
const CHOSEN = "A".repeat(43);

const server = await startOAuthServer({ config: { registration: "open" } });
const { id: accountId } = await server.accounts.add({ email: EMAIL, password: PASSWORD });
const { id: eveId } = await server.accounts.add({ email: EVE, password: PASSWORD });
afterAll(() => server.close());

/** A browser with cookies that an attacker has set, for example from another port of the host. */
function victim(cookies: Record<string, string>) {
  const person = createPerson(server.origin);
  for (const [name, value] of Object.entries(cookies)) person.jar.set(`ctxd-${name}`, value);
  return person;
}

const sessionOf = ({ jar }: ReturnType<typeof victim>) => jar.get("ctxd-session") ?? "";

describe("a session cookie that an attacker planted", () => {
  test("does not become the session of a sign-in", async () => {
    const person = victim({ session: CHOSEN });
    await person.submit(await person.visit("/sign-in"), { email: EMAIL, password: PASSWORD });
    expect(sessionOf(person)).not.toBe(CHOSEN);
    expect(await server.sessions.findAccount(CHOSEN)).toBeNull();
    expect(await server.sessions.findAccount(sessionOf(person))).toBe(accountId);
  });

  test("does not become the session of a new account", async () => {
    const person = victim({ session: CHOSEN });
    const page = await person.visit("/sign-up");
    await person.submit(page, { email: "new@example.com", password: PASSWORD });
    expect(sessionOf(person)).not.toBe(CHOSEN);
    expect(await server.sessions.findAccount(CHOSEN)).toBeNull();
  });

  test("ends when the password changes", async () => {
    const session = await server.sessions.begin(accountId);
    const person = victim({ session });
    const form = formTo(await person.visit("/account"), "/account/password");
    await person.submit(form, { current: PASSWORD, next: PASSWORD });
    expect(sessionOf(person)).not.toBe(session);
    expect(await server.sessions.findAccount(session)).toBeNull();
  });
});

test("signing out ends the attacker's own session in the victim's browser", async () => {
  const session = await server.sessions.begin(eveId);
  const person = victim({ session });
  // The page shows whose account it is, so the user signs out.
  const page = await person.visit("/account");
  expect(page.text).toContain(EVE);
  const { url, forms } = await person.submit(formTo(page, "/sign-out"));
  expect(new URL(url).pathname).toBe("/sign-in");
  expect(forms).toHaveLength(1);
  expect(await server.sessions.findAccount(session)).toBeNull();
});

describe("a form token that an attacker planted", () => {
  test("does not let another site sign a visitor in", async () => {
    const attacker = createPerson(server.origin);
    const form = await attacker.visit("/sign-in");
    const person = victim({ visit: attacker.jar.get("ctxd-visit") ?? "" });
    for (const headers of [
      { origin: "http://localhost:1", "sec-fetch-site": "same-site" },
      { origin: "https://evil.example.com", "sec-fetch-site": "cross-site" },
      { origin: "null" },
    ] as Record<string, string>[]) {
      const page = await person.submit(form, { email: EVE, password: PASSWORD }, headers);
      expect(page.status).toBe(403);
    }
    expect(person.jar.has("ctxd-session")).toBe(false);
  });

  test("is invalid after a sign-in", async () => {
    const attacker = createPerson(server.origin);
    const before = await attacker.visit("/sign-in");
    const person = victim({ visit: attacker.jar.get("ctxd-visit") ?? "" });
    await person.submit(await person.visit("/sign-in"), { email: EMAIL, password: PASSWORD });
    const [, token = ""] = before.forms[0]?.fields.find(([name]) => name === "form_token") ?? [];
    const page = formTo(await person.visit("/account"), "/sign-out");
    expect((await person.submit(page, { form_token: token })).status).toBe(403);
    expect(await server.sessions.findAccount(sessionOf(person))).toBe(accountId);
  });
});
