import { expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo, type Page, type Person } from "../oauth/support/person.ts";
import { ctxd, ctxdInTerminal } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { SET_UP_LINK } from "../support/server.ts";
import { testStores } from "../support/stores.ts";

const EMAIL = "ada.lovelace@example.com";
const STRONG = "correct horse";

/** Passwords that are tried first, in several spellings, and the reason for their refusal. */
const TRIED_FIRST = [
  ["password", "Many people use this password"],
  ["PassWord1", "Many people use this password"],
  ["ｐａｓｓｗｏｒｄ", "Many people use this password"],
  ["11111111111", "Many people use this password"],
  [EMAIL, "must not consist of your e-mail address"],
  ["Lovelace1815!", "must not consist of your e-mail address"],
  ["ctxd-ctxd", "must not consist of your e-mail address or the name ctxd"],
] as const;

/** Sends a form with each of the passwords, and then with one that nobody guesses. */
async function tryAll(person: Person, form: Page, field: string, others: Record<string, string>) {
  for (const [password, reason] of TRIED_FIRST) {
    const page = await person.submit(form, { ...others, [field]: password });
    expect({ password, status: page.status }).toEqual({ password, status: 422 });
    expect(page.text).toContain(reason);
    if (password !== EMAIL) expect(page.text).not.toContain(`value="${password}"`);
  }
  const page = await person.submit(form, { ...others, [field]: STRONG });
  expect(page.text).toMatch(/Skip to the overview|Sign out/);
}

test("the set-up and the change of a password refuse common passwords", async () => {
  await using server = await startOAuthServer();
  const person = createPerson(server.origin);
  await tryAll(person, await person.visit(SET_UP_LINK), "password", { email: EMAIL });
  const form = formTo(await person.visit("/account"), "/account/password");
  await tryAll(person, form, "next", { current: STRONG });
});

test("invitations and sign-ups refuse common passwords", async () => {
  await using server = await startOAuthServer({ config: { registration: "open" } });
  await server.accounts.add({ email: "you@example.com", password: null });
  const { secret } = await server.invitations.create(EMAIL);
  const invited = createPerson(server.origin);
  await tryAll(invited, await invited.visit(`/join/${secret}`), "password", {});
  await server.accounts.remove((await server.accounts.findByEmail(EMAIL))?.id ?? "");
  const person = createPerson(server.origin);
  await tryAll(person, await person.visit("/sign-up"), "password", { email: EMAIL });
});

test("the command line refuses common passwords", async () => {
  const dataDir = temporaryFolder();
  const { accounts } = testStores(dataDir);
  for (const [password, reason] of TRIED_FIRST) {
    const added = await ctxd(["user", "add", EMAIL], { dataDir, input: `${password}\n` });
    expect(added).toMatchObject({ stdout: "", exitCode: 2 });
    expect(added.stderr).toMatch(/^ctxd: [^\n]+\n$/);
    expect(added.stderr).toContain(reason);
  }
  expect(await accounts.list()).toEqual([]);
  await accounts.add({ email: EMAIL, password: STRONG });
  const changed = await ctxd(["user", "passwd", EMAIL], { dataDir, input: "password1\n" });
  expect(changed).toMatchObject({ stdout: "", exitCode: 2 });
  expect(await accounts.verifyPassword(EMAIL, STRONG)).not.toBeNull();
  const asked = await ctxdInTerminal(["user", "passwd", EMAIL], [["Password", "lovelace1\r"]], {
    dataDir,
  });
  expect(asked.screen).toContain("must not consist of your e-mail address");
  expect(asked.exitCode).not.toBe(0);
});
