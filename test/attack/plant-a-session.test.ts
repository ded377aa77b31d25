import { afterAll, describe, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";

const EMAIL = "you@example.com";
const EVE = "eve@example.com";
const PASSWORD = "correct horse";
/** The cookie of a session, as an attacker would like it to be. */
const CHOSEN = "A".repeat(43);

const server = await startOAuthServer({ config: { registration: "open" } });
const { id: accountId } = await server.accounts.add({ email: EMAIL, password: PASSWORD });
const { id: eveId } = await server.accounts.add({ email: EVE, password: PASSWORD });
afterAll(() => server.close());

/** Somebody whose browser has got these cookies from an attacker, on another port of the host say. */
function victim(cookies: Record<string, string>) {
  const person = createPerson(server.origin);
  for (const [name, value] of Object.entries(cookies)) person.jar.set(`ctxd-${name}`, value);
  return person;
}

const sessionOf = ({ jar }: ReturnType<typeof victim>) => jar.get("ctxd-session") ?? "";

describe("a session that was planted before", () => {
  test("a sign-in is not what it becomes", async () => {
    const person = victim({ session: CHOSEN });
    await person.submit(await person.visit("/sign-in"), { email: EMAIL, password: PASSWORD });
    expect(sessionOf(person)).not.toBe(CHOSEN);
    expect(await server.sessions.findAccount(CHOSEN)).toBeNull();
    expect(await server.sessions.findAccount(sessionOf(person))).toBe(accountId);
  });

  test("a new account is not what it becomes", async () => {
    const person = victim({ session: CHOSEN });
    const page = await person.visit("/sign-up");
    await person.submit(page, { email: "new@example.com", password: PASSWORD });
    expect(sessionOf(person)).not.toBe(CHOSEN);
    expect(await server.sessions.findAccount(CHOSEN)).toBeNull();
  });

  test("another password is not what it outlives", async () => {
    const session = await server.sessions.begin(accountId);
    const person = victim({ session });
    const form = formTo(await person.visit("/account"), "/account/password");
    await person.submit(form, { current: PASSWORD, next: PASSWORD });
    expect(sessionOf(person)).not.toBe(session);
    expect(await server.sessions.findAccount(session)).toBeNull();
  });
});

test("the attacker's own session ends in the browser that it was planted in", async () => {
  const session = await server.sessions.begin(eveId);
  const person = victim({ session });
  // The person sees whose account it is, signs out of it and in to their own.
  const page = await person.visit("/account");
  expect(page.text).toContain(EVE);
  const { url, forms } = await person.submit(formTo(page, "/sign-out"));
  expect(new URL(url).pathname).toBe("/sign-in");
  expect(forms).toHaveLength(1);
  expect(await server.sessions.findAccount(session)).toBeNull();
});

describe("a form's proof that was planted before", () => {
  test("does not let another site sign its visitor in", async () => {
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

  test("is worth nothing after a sign-in", async () => {
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
