import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { findLocalOwner } from "../../src/accounts/accounts.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, type Page } from "../oauth/support/person.ts";
import { SET_UP_LINK } from "../support/server.ts";

const EMAIL = "you@example.com";
const PASSWORD = "correct horse";
const DAY = 24 * 3_600_000;
const HOSTILE = `"><script>alert(1)</script>`;

/** The first page of a signed-in person: the first steps of the owner, or the overview. */
const isSignedIn = ({ text }: Page) => /Skip to the overview|Sign out/.test(text);

describe("an empty server", () => {
  test("redirects to the set-up page, which makes the account of local agents the owner's", async () => {
    await using server = await startOAuthServer();
    const local = await findLocalOwner(server.accounts);
    const memory = await (await server.client(local.id)).save({ content: "said before" });
    const person = createPerson(server.origin);
    for (const path of ["/", "/keys", "/sign-in"]) {
      const page = await person.visit(path);
      expect(new URL(page.url).pathname).toBe("/setup");
      expect(page.status).toBe(403);
      expect(page.text).toContain("run ctxd dashboard");
    }
    const page = await person.visit(SET_UP_LINK);
    expect(page.text).toContain("Create the account of its owner");
    const next = await person.submit(page, { email: EMAIL, password: PASSWORD });
    expect(isSignedIn(next)).toBe(true);
    const [owner, ...others] = await server.accounts.list();
    expect(others).toEqual([]);
    expect(owner).toMatchObject({ id: local.id, email: EMAIL, role: "owner" });
    expect(await server.accounts.verifyPassword(EMAIL, PASSWORD)).toMatchObject({ id: local.id });
    expect(await (await server.client(local.id)).get(memory.id)).toMatchObject({
      content: "said before",
    });
    expect((await findLocalOwner(server.accounts)).id).toBe(local.id);
  });

  test("shows the mistake, but no markup and no password that was entered", async () => {
    await using server = await startOAuthServer();
    const person = createPerson(server.origin);
    const form = await person.visit(SET_UP_LINK);
    for (const [fields, problem] of [
      [{ email: EMAIL, password: "short" }, "A password has 8 to 1024 characters."],
      [{ email: "you", password: PASSWORD }, "This is not an e-mail address"],
      [{ email: HOSTILE, password: PASSWORD }, "This is not an e-mail address"],
    ] as const) {
      const page = await person.submit(form, fields);
      expect(page.status).toBe(422);
      expect(page.text).toContain(problem);
      expect(page.text).not.toContain("<script");
      expect(page.text).not.toContain(fields.password);
    }
    expect(await server.accounts.list()).toEqual([]);
  });

  test("gets one owner when two people submit the form at the same time", async () => {
    await using server = await startOAuthServer();
    const people = [createPerson(server.origin), createPerson(server.origin)];
    const forms = await Promise.all(people.map((person) => person.visit(SET_UP_LINK)));
    const pages = await Promise.all(
      people.map((person, index) => {
        const form = forms[index];
        if (!form) throw new Error("everybody has a form");
        return person.submit(form, { email: `p${index}@example.com`, password: PASSWORD });
      }),
    );
    expect(pages.filter(isSignedIn)).toHaveLength(1);
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await server.accounts.list()).toMatchObject([{ role: "owner" }]);
  });

  test("requires the set-up token that it printed, once", async () => {
    await using server = await startOAuthServer();
    const stranger = createPerson(server.origin);
    for (const path of ["/setup", "/setup?token=", "/setup?token=guessed"]) {
      const page = await stranger.visit(path);
      expect(page.status).toBe(403);
      expect(page.forms).toEqual([]);
      expect(page.text).not.toContain("of-the-start");
    }
    const person = createPerson(server.origin);
    const form = await person.visit(SET_UP_LINK);
    const wanted = { email: EMAIL, password: PASSWORD };
    for (const token of [null, "", "guessed"]) {
      expect((await person.submit(form, { ...wanted, token })).status).toBe(403);
    }
    expect(await server.accounts.list()).toEqual([]);
    expect(isSignedIn(await person.submit(form, wanted))).toBe(true);
    const again = await stranger.visit(SET_UP_LINK);
    expect(new URL(again.url).pathname).toBe("/sign-in");
  });

  test("with registration closed gets its owner only by the command line", async () => {
    await using server = await startOAuthServer({ config: { registration: "closed" } });
    const person = createPerson(server.origin);
    const page = await person.visit("/");
    expect(page.status).toBe(403);
    expect(page.text).toContain("ctxd user add EMAIL");
    await using other = await startOAuthServer();
    const form = await createPerson(other.origin).visit(SET_UP_LINK);
    const target = `${server.origin}/setup`;
    const sent = await person.submit(
      { ...form, url: target },
      { email: EMAIL, password: PASSWORD },
    );
    expect(sent.status).toBe(403);
    expect(await server.accounts.list()).toEqual([]);
  });
});

describe("a server with an owner", () => {
  let server: OAuthServer;
  beforeAll(async () => {
    server = await startOAuthServer();
    await server.accounts.add({ email: EMAIL, password: PASSWORD });
  });
  afterAll(() => server.close());

  test("has no set-up and no sign-up page", async () => {
    for (const path of ["/setup", "/sign-up"]) {
      const person = createPerson(server.origin);
      const page = await person.visit(path);
      expect(new URL(page.url).pathname).toBe("/sign-in");
      const sent = await person.submit(
        {
          ...page,
          url: server.origin,
          forms: page.forms.map((form) => ({ ...form, action: path })),
        },
        { email: "stranger@example.com", password: PASSWORD },
      );
      expect([403, 409]).toContain(sent.status);
    }
    expect(await server.accounts.list()).toHaveLength(1);
  });

  test("lets an invited person make an account, once", async () => {
    const { secret } = await server.invitations.create(null);
    const person = createPerson(server.origin);
    const form = await person.visit(`/join/${secret}`);
    const wrong = await person.submit(form, { email: EMAIL, password: PASSWORD });
    expect(wrong.status).toBe(409);
    const page = await person.submit(form, { email: "ada@example.com", password: PASSWORD });
    expect(isSignedIn(page)).toBe(true);
    expect(await server.accounts.findByEmail("ada@example.com")).toMatchObject({ role: "member" });
    const again = await person.submit(form, { email: "eve@example.com", password: PASSWORD });
    expect(again.status).toBe(403);
    const eve = createPerson(server.origin);
    const late = await eve.visit(`/join/${secret}`);
    expect(late.text).toContain("This invitation is not valid");
    expect(late.forms).toEqual([]);
    expect(await server.accounts.findByEmail("eve@example.com")).toBeNull();
  });

  test("accepts an invitation only for its address and until it expires", async () => {
    const { secret } = await server.invitations.create("Bob@example.com");
    const person = createPerson(server.origin);
    const form = await person.visit(`/join/${secret}`);
    expect(form.text).toContain("bob@example.com");
    await person.submit(form, { email: "mallory@example.com", password: PASSWORD });
    expect(await server.accounts.findByEmail("bob@example.com")).not.toBeNull();
    expect(await server.accounts.findByEmail("mallory@example.com")).toBeNull();

    const { secret: late } = await server.invitations.create(null);
    const other = createPerson(server.origin);
    const lateForm = await other.visit(`/join/${late}`);
    server.clock.advance(7 * DAY);
    const page = await other.submit(lateForm, { email: "late@example.com", password: PASSWORD });
    expect(page.status).toBe(404);
    expect(await server.accounts.findByEmail("late@example.com")).toBeNull();
    expect(await server.invitations.list()).toEqual([]);
  });

  test("creates one account when two people use an invitation at the same time", async () => {
    const { secret } = await server.invitations.create(null);
    const people = [createPerson(server.origin), createPerson(server.origin)];
    // An accepted invitation has no form, so both have theirs before one submits it.
    const forms = await Promise.all(people.map((person) => person.visit(`/join/${secret}`)));
    const pages = await Promise.all(
      people.map((person, index) => {
        const form = forms[index];
        if (!form) throw new Error("everybody has a form");
        return person.submit(form, { email: `twin${index}@example.com`, password: PASSWORD });
      }),
    );
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 404]);
  });

  test("does not store the secret of an invitation", async () => {
    const { secret } = await server.invitations.create(null);
    const row = await server.rows("invitations");
    expect(JSON.stringify(row)).not.toContain(secret);
  });
});

describe("where anyone may sign up", () => {
  test("a visitor makes an account, with at most ten tries an hour", async () => {
    await using server = await startOAuthServer({
      config: { registration: "open" },
    });
    await server.accounts.add({ email: EMAIL, password: PASSWORD });
    const statuses: number[] = [];
    for (let count = 0; count < 11; count++) {
      const person = createPerson(server.origin);
      const form = await person.visit("/sign-up");
      const page = await person.submit(form, {
        email: count === 5 ? EMAIL : `new${count}@example.com`,
        password: count === 6 ? "short" : PASSWORD,
      });
      statuses.push(page.status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 409, 422, 200, 200, 200, 429]);
    expect((await server.accounts.list()).filter(({ role }) => role === "owner")).toHaveLength(1);
  });
});
