import { afterAll, beforeAll, expect, test } from "bun:test";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson } from "../oauth/support/person.ts";
import {
  addApp,
  addPasskey,
  addPerson,
  enterPassword,
  formWith,
  isSignedIn,
} from "../sign-in/support/factors.ts";

const EMAILS = [
  "plain@example.com",
  "app@example.com",
  "passkey@example.com",
  "alone@example.com",
  "unknown@example.com",
];

let server: OAuthServer;
let codes: readonly string[];
let codesOfAlone: readonly string[];
beforeAll(async () => {
  server = await startOAuthServer();
  const ids = [];
  for (const email of EMAILS.slice(0, 4)) ids.push((await addPerson(server, email)).id);
  const [, app = "", passkey = "", alone = ""] = ids;
  ({ codes } = await addApp(server, app));
  await addPasskey(server, passkey);
  await addPasskey(server, alone);
  codesOfAlone = await server.factors.recoveryCodes.replace(alone);
  await server.accounts.removePassword(alone);
});
afterAll(() => server.close());

/** The text of a page, without the parts that differ in every browser. */
const sayingOf = ({ status, text }: { status: number; text: string }, email: string) => ({
  status,
  text: text.replaceAll(/value="[\w-]{43,}"/g, "").replaceAll(email, "EMAIL"),
});

test("a wrong password gets the same answer for all accounts and for unknown addresses", async () => {
  const sayings = [];
  for (const email of EMAILS) {
    const { page, person } = await enterPassword(server, { email, password: "a wrong password" });
    expect(person.jar.has("ctxd-pending")).toBe(false);
    sayings.push(sayingOf(page, email));
  }
  expect(sayings[0]?.status).toBe(401);
  for (const saying of sayings) expect(saying).toEqual(sayings[0] as (typeof sayings)[0]);
});

async function recover(email: string, code: string) {
  const person = createPerson(server.origin);
  const form = formWith(await person.visit("/sign-in/recovery"), "code");
  return { person, page: await person.submit(form, { email, code }) };
}

test("a wrong recovery code gets the same answer for all accounts and for unknown addresses", async () => {
  const sayings = [];
  for (const email of EMAILS) {
    const { page } = await recover(email, "0000-0000-0000-0000");
    sayings.push(sayingOf(page, email));
  }
  expect(sayings[0]?.status).toBe(401);
  for (const saying of sayings) expect(saying).toEqual(sayings[0] as (typeof sayings)[0]);
  server.clock.advance(15 * 60_000);
});

test("a recovery code alone does not sign in to an account that has a password", async () => {
  const { page, person } = await recover("app@example.com", codes[0] ?? "");
  expect(page.status).toBe(401);
  expect(await isSignedIn(person)).toBe(false);
  // The refused code remains unused.
  expect(
    await server.factors.recoveryCodes.count(
      (await server.accounts.findByEmail("app@example.com"))?.id ?? "",
    ),
  ).toBe(10);
  const alone = await recover("alone@example.com", codesOfAlone[0] ?? "");
  expect(await isSignedIn(alone.person)).toBe(true);
  const again = await recover("alone@example.com", codesOfAlone[0] ?? "");
  expect(again.page.status).toBe(401);
});

test("tries of recovery codes are limited", async () => {
  const statuses: number[] = [];
  server.clock.advance(15 * 60_000);
  for (let count = 0; count < 11; count++) {
    statuses.push((await recover("alone@example.com", `guess-${count}`)).page.status);
  }
  expect(statuses).toEqual([...Array(10).fill(401), 429]);
});

test("no password signs in to an account without a password", async () => {
  for (const password of ["correct horse battery", "", "null"]) {
    const { page, person } = await enterPassword(server, { email: "alone@example.com", password });
    expect(page.status).toBe(401);
    expect(await isSignedIn(person)).toBe(false);
  }
});
