import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo, type Person } from "../oauth/support/person.ts";
import { type Page as BrowserPage, openBrowser } from "../support/browser.ts";
import { press } from "../support/dashboard.ts";

const EMAIL = "you@example.com";
const OTHER = "ada@example.com";
const PASSWORD = "correct horse";
const PERIOD = 15 * 60_000;
const HOME = "203.0.113.1";

const server = await startOAuthServer({ config: { trustProxy: true } });
const { id: accountId } = await server.accounts.add({ email: EMAIL, password: PASSWORD });
await server.accounts.add({ email: OTHER, password: PASSWORD });
afterAll(() => server.close());
// Restores the limits that earlier tests used up.
beforeEach(() => server.clock.advance(PERIOD));

interface Try {
  person?: Person;
  from: string;
  email?: string;
  password?: string;
}

/** Submits the sign-in form and returns the status of the answer. */
async function attempt({ person = newPerson(), from, email = EMAIL, password = PASSWORD }: Try) {
  const address = { "x-forwarded-for": from };
  const page = await person.visit("/sign-in", address);
  return (await person.submit(page, { email, password }, address)).status;
}

const newPerson = () => createPerson(server.origin);

/** A browser in which these accounts have signed in and out. */
async function knownBrowser(emails: readonly string[] = [EMAIL]): Promise<Person> {
  const person = newPerson();
  for (const email of emails) {
    expect(await attempt({ person, from: HOME, email })).toBe(200);
    const page = await person.visit("/account");
    await person.submit(formTo(page, "/sign-out"));
    expect(person.jar.has("ctxd-session")).toBe(false);
  }
  return person;
}

/** Sends thirty wrong passwords for an account from three addresses. */
async function siege(email = EMAIL): Promise<void> {
  for (let count = 0; count < 30; count++) {
    const from = `198.51.100.${1 + (count % 3)}`;
    expect(await attempt({ from, email, password: "short" })).toBe(401);
  }
  expect(await attempt({ from: "198.51.100.4", email, password: "short" })).toBe(429);
}

/** A thief's browser with the stolen device cookie. */
function stolenFrom({ jar }: Person): Person {
  const thief = newPerson();
  thief.jar.set("ctxd-device", jar.get("ctxd-device") ?? "");
  return thief;
}

describe("wrong passwords from three addresses", () => {
  test("do not lock the owner out of a browser that signed in before", async () => {
    const person = await knownBrowser();
    await siege();
    expect(await attempt({ from: HOME })).toBe(429);
    expect(await attempt({ person, from: "192.0.2.7" })).toBe(200);
  });

  test("do not lock out such a browser at the attacker's address", async () => {
    const person = await knownBrowser();
    for (let count = 0; count < 11; count++) await attempt({ from: HOME, password: "short" });
    expect(await attempt({ from: HOME })).toBe(429);
    expect(await attempt({ person, from: HOME })).toBe(200);
  });

  test("do not lock out a browser that signed out of a session without the device cookie", async () => {
    const person = newPerson();
    person.jar.set("ctxd-session", await server.sessions.begin(accountId));
    await person.submit(formTo(await person.visit("/account"), "/sign-out"));
    await siege();
    expect(await attempt({ person, from: HOME })).toBe(200);
  });

  test("do not lock out others at the owner's address", async () => {
    await siege();
    for (let count = 0; count < 12; count++) expect(await attempt({ from: HOME })).toBe(429);
    expect(await attempt({ from: HOME, email: OTHER })).toBe(200);
  });

  test("do not prevent a signed-in person from changing the password", async () => {
    await siege();
    const person = newPerson();
    person.jar.set("ctxd-session", await server.sessions.begin(accountId));
    const form = formTo(await person.visit("/account"), "/account/password");
    const changed = await person.submit(form, { current: PASSWORD, next: "another horse" });
    expect(changed.text).toContain("Your password is changed.");
    // The browser has a device cookie for the new password.
    await person.submit(formTo(changed, "/sign-out"));
    expect(await attempt({ person, from: HOME, password: "another horse" })).toBe(200);
    await server.accounts.setPassword(accountId, PASSWORD);
  });

  test("are counted by address, without the port that a proxy adds", async () => {
    for (const [attacker, other] of [
      ["198.51.100.1:PORT", "198.51.100.2:40000"],
      ["[2001:db8:1:2::3]:PORT", "[2001:db8:9:2::3]:40000"],
    ] as const) {
      for (let count = 0; count < 10; count++) {
        const from = attacker.replace("PORT", `${50_000 + count}`);
        expect(await attempt({ from, password: "short" })).toBe(401);
      }
      expect(await attempt({ from: attacker.replace("PORT", "60000") })).toBe(429);
      expect(await attempt({ from: other })).toBe(200);
    }
  });

  test("lock nobody out of a browser with several accounts", async () => {
    const person = await knownBrowser([EMAIL, OTHER]);
    await siege(EMAIL);
    server.clock.advance(PERIOD);
    await siege(EMAIL);
    await siege(OTHER).catch(() => {});
    for (const email of [EMAIL, OTHER]) {
      const browser = stolenFrom(person);
      expect(await attempt({ person: browser, from: HOME, email })).toBe(200);
    }
  });
});

describe("a thief with the device cookie of such a browser", () => {
  test("has ten tries, from all addresses together", async () => {
    const person = await knownBrowser();
    const another = await knownBrowser();
    const statuses: number[] = [];
    for (let count = 0; count < 11; count++) {
      const thief = { person: stolenFrom(person), from: `192.0.2.${count}` };
      statuses.push(await attempt({ ...thief, password: "short" }));
    }
    expect(statuses).toEqual([...Array(10).fill(401), 429]);
    // The tries count neither for the account nor for an address.
    expect(await attempt({ person: another, from: HOME })).toBe(200);
    expect(await attempt({ from: "192.0.2.0" })).toBe(200);
  });

  test("has no advantage at another account", async () => {
    const person = await knownBrowser();
    await siege(OTHER);
    expect(await attempt({ person: stolenFrom(person), from: HOME, email: OTHER })).toBe(429);
  });

  test("has no advantage after a change of the password", async () => {
    const person = await knownBrowser();
    await server.accounts.setPassword(accountId, PASSWORD);
    await siege();
    expect(await attempt({ person: stolenFrom(person), from: HOME })).toBe(429);
  });

  test("has no advantage after 400 days", async () => {
    const person = await knownBrowser();
    server.clock.advance(400 * 24 * 3_600_000);
    await siege();
    expect(await attempt({ person: stolenFrom(person), from: HOME })).toBe(429);
  });

  test("is not signed in, and can't read the e-mail address", async () => {
    const thief = stolenFrom(await knownBrowser());
    expect((await thief.visit("/account")).url).toContain("/sign-in");
    const value = thief.jar.get("ctxd-device") ?? "";
    expect(value).toMatch(/^[\w.~-]{60,}$/);
    for (const part of value.split(/[.~]/)) {
      expect(Buffer.from(part, "base64url").toString("latin1")).not.toContain("you@");
    }
    expect(value).not.toContain(accountId);
  });

  test("has no advantage with a changed cookie", async () => {
    const person = await knownBrowser();
    await siege();
    const [nonce = "", expiry = "", seal = ""] = (person.jar.get("ctxd-device") ?? "").split(".");
    const later = (Number.parseInt(expiry, 36) + 1).toString(36);
    for (const value of [
      `${"A".repeat(22)}.${expiry}.${seal}`,
      `${nonce}.${later}.${seal}`,
      `${nonce}.${expiry}.${"A".repeat(seal.length)}`,
      `${nonce}.${expiry}.`,
      "~~~",
      "..",
      "%00",
      "x".repeat(8_000),
    ]) {
      const thief = newPerson();
      thief.jar.set("ctxd-device", value);
      expect(await attempt({ person: thief, from: HOME })).toBe(429);
    }
  });
});

test("during an attack, Chromium signs its owner in, but not in a private window", async () => {
  const browser = await openBrowser();
  const { origin } = server;
  const signIn = async (page: BrowserPage) => {
    await page.goto(`${origin}/sign-in`);
    await page.getByLabel("E-mail address").fill(EMAIL);
    await page.getByLabel("Password").fill(PASSWORD);
    await press(page, "Sign in");
  };
  await browser.visit({ origin }, async (page) => {
    await signIn(page);
    await press(page, "Sign out");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await siege();
    await browser.visit({ origin }, async (other) => {
      await signIn(other);
      await other.getByText("Too many tries. Try again in 1 minute.").waitFor();
    });
    await signIn(page);
    await page.getByRole("link", { name: "Overview" }).waitFor();
  });
  await browser.close();
});

test("the device cookie keeps the last eight accounts, and stays short", async () => {
  const emails = [...Array(9).keys()].map((count) => `person${count}@example.com`);
  for (const email of emails) await server.accounts.add({ email, password: PASSWORD });
  const person = await knownBrowser(emails);
  const value = person.jar.get("ctxd-device") ?? "";
  expect(value.split("~")).toHaveLength(8);
  expect(value.length).toBeLessThan(800);
});
