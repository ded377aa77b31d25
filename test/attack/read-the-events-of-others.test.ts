import { afterAll, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson } from "../oauth/support/person.ts";

const server = await startOAuthServer();
afterAll(server.close);
const owner = await server.signedIn();
const victim = await server.signedIn();
const member = await server.signedIn();

const { record } = server.securityLog;
const facts = { via: "browser", address: "203.0.113.77", agent: "the victim's browser" } as const;
record("signed_in", { ...facts, accountId: victim.accountId });
record("signed_in", { ...facts, accountId: owner.accountId });
record("sign_in_failed", { ...facts, accountId: null });
// The owner revokes the member's access, from the owner's address.
record("access_revoked", { ...facts, accountId: member.accountId, actorId: owner.accountId });

const SECRETS = ["203.0.113.77", "the victim", victim.accountId, owner.accountId];

test("a member can't open the page of all events, nor download it", async () => {
  for (const path of ["/admin/security", "/admin/security/download?format=json"]) {
    const { status, text } = await member.person.visit(path);
    expect(status).toBe(403);
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  }
});

test("filters of a member's own page show no events of other accounts", async () => {
  const account = `account=${victim.accountId}`;
  for (const query of ["", account, "address=203.0.113.77", "event=signed_in", "before=999999"]) {
    for (const path of ["", "/download?format=json", "/download?format=csv"]) {
      const separator = path.includes("?") ? "&" : "?";
      const url = `/account/security${path}${separator}${query}`;
      const { status, text } = await member.person.visit(url);
      expect(status).toBe(200);
      // The form shows what was asked for.
      const shown = /<table>.*<\/table>/s.exec(text)?.[0] ?? (path === "" ? "" : text);
      for (const secret of SECRETS) expect(shown).not.toContain(secret);
    }
  }
});

test("a member does not see the address from which the owner changed the member's account", async () => {
  const { text } = await member.person.visit("/account/security");
  expect(text).toContain("All access revoked");
  expect(text).toContain("The owner of this server");
  for (const secret of SECRETS) expect(text).not.toContain(secret);
});

test("a visitor who is not signed in sees no events", async () => {
  const stranger = createPerson(server.origin);
  for (const path of ["/admin/security", "/account/security", "/account/security/download"]) {
    const page = await stranger.visit(path);
    expect(page.url).toContain("/sign-in");
    for (const secret of SECRETS) expect(page.text).not.toContain(secret);
  }
});

test("an API key can't read events", async () => {
  const { key } = await server.keys.create(owner.accountId, {
    name: "agent",
    scopes: ["memories:read"],
    expiresAt: null,
  });
  for (const path of ["/admin/security", "/account/security/download", "/api/security"]) {
    const response = await fetch(server.origin + path, {
      headers: { authorization: `Bearer ${key}` },
      redirect: "manual",
    });
    const text = await response.text();
    for (const secret of SECRETS) expect(text).not.toContain(secret);
  }
});
