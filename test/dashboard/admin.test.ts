import { afterAll, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson, formTo } from "../oauth/support/person.ts";

const PASSWORD = "correct horse";

const server = await startOAuthServer();
afterAll(server.close);
const owner = await server.signedIn();
const member = await server.signedIn();

test("the page is the owner's alone, and so is what it does", async () => {
  const { secret, invitation } = await server.invitations.create(null);
  const { text } = await member.person.visit("/keys");
  expect(text).not.toContain('href="/admin"');
  const page = formTo(await member.person.visit("/keys"), "/keys");
  for (const path of [
    "/admin",
    "/admin/invitations",
    `/admin/invitations/${invitation.id}/revoke`,
    `/admin/accounts/${member.accountId}/remove`,
    `/admin/accounts/${owner.accountId}/remove`,
  ]) {
    const forged = { ...page, forms: page.forms.map((form) => ({ ...form, action: path })) };
    if (path !== "/admin") expect((await member.person.submit(forged)).status).toBe(403);
    if (!path.includes("invitations")) {
      expect((await member.person.visit(path)).status).toBe(403);
    }
  }
  expect(await server.accounts.list()).toHaveLength(2);
  expect(await server.invitations.list()).toHaveLength(1);
  expect(await server.invitations.find(secret)).not.toBeNull();
  await server.invitations.revoke(invitation.id);
});

test("an invitation's link is shown once, makes an account, and can be revoked", async () => {
  const page = await owner.person.visit("/admin");
  const made = await owner.person.submit(formTo(page, "/admin/invitations"), {
    email: "ada@example.com",
  });
  const [link = ""] = /http:\/\/localhost:\d+\/join\/[\w-]{43}/.exec(made.text) ?? [];
  expect((await owner.person.visit(made.url)).text).not.toContain("/join/");
  const ada = createPerson(server.origin);
  await ada.submit(await ada.visit(link), { password: PASSWORD });
  expect(await server.accounts.findByEmail("ada@example.com")).toMatchObject({ role: "member" });

  const form = formTo(await owner.person.visit("/admin"), "/admin/invitations");
  const bad = await owner.person.submit(form, { email: `<script>"` });
  expect(bad.status).toBe(422);
  expect(bad.text).not.toContain("<script>");
  const again = await owner.person.submit(form, { email: "" });
  const [other = ""] = /http:\/\/localhost:\d+\/join\/[\w-]{43}/.exec(again.text) ?? [];
  const [invitation] = await server.invitations.list();
  await owner.person.submit(formTo(again, `/admin/invitations/${invitation?.id}/revoke`));
  expect((await ada.visit(other)).text).toContain("This invitation does not hold");
});

test("removing an account names what is lost, and takes all of it", async () => {
  const bob = await server.signedIn();
  const client = await server.client(bob.accountId);
  await client.saveAll([{ content: "one" }, { content: "two" }]);
  const { email = "" } = (await server.accounts.find(bob.accountId)) ?? {};
  expect((await owner.person.visit("/admin")).text).toContain(email);
  const path = `/admin/accounts/${bob.accountId}/remove`;
  const question = await owner.person.visit(path);
  expect(question.text).toContain("memories: 2");
  expect(question.text).toContain("API keys: 2");
  expect(question.text).toContain("connected apps: 0");
  const page = await owner.person.submit(formTo(question, path));
  expect(page.text).toContain(`${email} is removed`);
  expect((await client.send("GET", "/memories")).status).toBe(401);
  expect(new URL((await bob.person.visit("/")).url).pathname).toBe("/sign-in");
  expect((await owner.person.submit(formTo(question, path))).status).toBe(404);
});

test("the owner can't be removed there", async () => {
  expect((await owner.person.visit(`/admin/accounts/${owner.accountId}/remove`)).status).toBe(403);
});

test("version and health are shown", async () => {
  const { text } = await owner.person.visit("/admin");
  expect(text).toContain("<dt>Version</dt>");
  expect(text).toContain("<dt>Database</dt><dd>ok</dd>");
});
