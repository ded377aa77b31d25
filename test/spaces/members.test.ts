import { describe, expect, test } from "bun:test";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { createSpaceInvitations } from "../../src/accounts/space-invitations.ts";
import { createSpaces } from "../../src/accounts/spaces.ts";
import type { Database } from "../../src/db/database.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { createOAuth } from "../../src/oauth/oauth.ts";
import { testClock } from "../support/database.ts";
import { DATABASES, type Place } from "../support/databases.ts";
import { rejectionOf } from "../support/outcome.ts";
import { addAccount } from "../support/stores.ts";

async function storesAt(place: Place) {
  const db = await (await place()).open();
  const parts = { db, clock: testClock() };
  const accounts = createAccounts(parts);
  const [ann, bob, eve] = [
    await addAccount(accounts, "ann@example.com"),
    await addAccount(accounts, "bob@example.com"),
    await addAccount(accounts, "eve@example.com"),
  ];
  const spaces = createSpaces(parts);
  const invitations = createSpaceInvitations(parts);
  const space = await spaces.create(ann.id, "  acme ");
  return { ...parts, accounts, spaces, invitations, keys: createKeys(parts), space, ann, bob, eve };
}

/** Lets an app act for a person, and returns a function that tells whether its token is valid. */
async function grantOf(db: Database, accountId: string, spaceId: string | null = null) {
  const [publicUrl, verifier] = ["https://memory.example.com", "v".repeat(43)];
  const resource = `${publicUrl}/mcp`;
  const { codes, tokens } = createOAuth({ db, clock: testClock(), publicUrl });
  const code = await codes.create(accountId, {
    client: { id: "client_x", name: "the app", redirectUris: ["http://localhost/"] },
    redirectUri: "http://localhost/",
    challenge: new Bun.CryptoHasher("sha256").update(verifier).digest("base64url"),
    scopes: SCOPES,
    ...{ resource, spaceId },
  });
  const wanted = { clientId: "client_x", code, verifier, redirectUri: null, resource };
  const { access_token } = await codes.redeem(wanted);
  return async () => (await tokens.authenticate(access_token)) !== null;
}

const NOT_FOUND = { code: "not_found" };
const CONFLICT = { code: "conflict" };

describe.each(DATABASES)("spaces on %s", (_, place) => {
  test("who makes a space is its first admin, and a space is no account of a person", async () => {
    const { spaces, space, accounts, ann, bob, eve } = await storesAt(place);
    expect(space).toEqual({ id: space.id, name: "acme", role: "admin", projects: [] });
    expect((await spaces.admit(ann.id))?.spaces).toEqual([space]);
    expect((await spaces.admit(bob.id))?.spaces).toEqual([]);
    expect(await accounts.list()).toEqual([ann, bob, eve]);
    expect(await spaces.list()).toMatchObject([{ id: space.id, name: "acme", members: 1 }]);
  });

  test.each(["", " ", "personal", "Personal", "acc_1", "a,b", "x".repeat(65), "a\u0000b"])(
    "a space can't be called %j",
    async (name) => {
      const { spaces, space, ann } = await storesAt(place);
      expect(await rejectionOf(spaces.create(ann.id, name))).toMatchObject({
        code: "validation_failed",
      });
      const renaming = spaces.change(ann.id, space.id, { name });
      expect(await rejectionOf(renaming)).toMatchObject({ code: "validation_failed" });
    },
  );

  test("a link lets one person in, once, for a week", async () => {
    const { spaces, invitations, space, ann, bob, eve, clock } = await storesAt(place);
    const wanted = { email: null, role: "write" } as const;
    const { secret } = await invitations.create(ann.id, space.id, wanted);
    expect(await invitations.find(secret)).toMatchObject({ spaceName: "acme", role: "write" });
    await invitations.acceptLink(bob, secret);
    expect((await spaces.admit(bob.id))?.spaces).toMatchObject([{ name: "acme", role: "write" }]);
    expect(await rejectionOf(invitations.acceptLink(eve, secret))).toMatchObject(NOT_FOUND);
    const late = await invitations.create(ann.id, space.id, wanted);
    clock.advance(7 * 24 * 3_600_000);
    expect(await rejectionOf(invitations.acceptLink(eve, late.secret))).toMatchObject(NOT_FOUND);
  });

  test("an invitation of an address is for the account that has it already", async () => {
    const { spaces, invitations, space, ann, bob, eve, accounts, clock } = await storesAt(place);
    const wanted = { email: "Bob@example.com", role: "read" } as const;
    const { secret, invitation } = await invitations.create(ann.id, space.id, wanted);
    expect(await invitations.listFor(bob)).toEqual([invitation]);
    expect(await invitations.listFor(eve)).toEqual([]);
    const { id } = invitation;
    expect(await rejectionOf(invitations.accept(eve, id))).toMatchObject(NOT_FOUND);
    expect(await rejectionOf(invitations.acceptLink(eve, secret))).toMatchObject(NOT_FOUND);
    await invitations.accept(bob, id);
    expect(await spaces.members(space.id)).toMatchObject([
      { email: "ann@example.com", role: "admin" },
      { email: "bob@example.com", role: "read" },
    ]);

    const early = { email: "new@example.com", role: "read" } as const;
    const made = await invitations.create(ann.id, space.id, early);
    clock.advance(1);
    const young = await addAccount(accounts, "new@example.com");
    expect(await invitations.listFor(young)).toEqual([]);
    await invitations.acceptLink(young, made.secret);
    expect((await spaces.admit(young.id))?.spaces).toHaveLength(1);
  });

  test.each(["removed", "demoted", "disabled", "gone"] as const)(
    "nobody joins by the invitation of an admin who is %s",
    async (how) => {
      const { spaces, invitations, accounts, space, ann, bob, eve } = await storesAt(place);
      const { secret } = await invitations.create(ann.id, space.id, { email: null, role: "admin" });
      await invitations.acceptLink(bob, secret);
      const wanted = { role: "admin", email: null } as const;
      const link = await invitations.create(bob.id, space.id, wanted);
      const named = await invitations.create(bob.id, space.id, { ...wanted, email: eve.email });
      const others = await invitations.create(ann.id, space.id, wanted);
      expect(await invitations.listFor(eve)).toEqual([named.invitation]);
      await {
        removed: () => spaces.removeMember(ann.id, space.id, bob.id),
        demoted: () => spaces.setRole(ann.id, space.id, bob.id, "write"),
        disabled: () => accounts.disable(bob.id),
        gone: () => accounts.remove(bob.id),
      }[how]();
      expect(await rejectionOf(invitations.acceptLink(eve, link.secret))).toMatchObject(NOT_FOUND);
      expect(await rejectionOf(invitations.accept(eve, named.invitation.id))).toMatchObject(
        NOT_FOUND,
      );
      expect(await invitations.listFor(eve)).toEqual([]);
      expect(await invitations.find(link.secret)).toBeNull();
      expect(await invitations.list(space.id)).toEqual([others.invitation]);
      await invitations.acceptLink(eve, others.secret);
      expect((await spaces.admit(eve.id))?.spaces).toHaveLength(1);
    },
  );

  test("nobody joins a closed space", async () => {
    const { spaces, invitations, space, ann, bob } = await storesAt(place);
    const { secret } = await invitations.create(ann.id, space.id, { email: null, role: "read" });
    await spaces.setDisabled(space.id, true);
    expect(await rejectionOf(invitations.acceptLink(bob, secret))).toMatchObject(NOT_FOUND);
    await spaces.setDisabled(space.id, false);
    await invitations.acceptLink(bob, secret);
    expect((await spaces.admit(bob.id))?.spaces).toMatchObject([{ role: "read" }]);
  });

  test("only admins change a space, and strangers don't learn that it exists", async () => {
    const { spaces, invitations, space, ann, bob, eve } = await storesAt(place);
    const { secret } = await invitations.create(ann.id, space.id, { email: null, role: "write" });
    await invitations.acceptLink(bob, secret);
    const changes = (actor: string) => [
      () => spaces.change(actor, space.id, { name: "mine" }),
      () => spaces.setRole(actor, space.id, ann.id, "read"),
      () => spaces.removeMember(actor, space.id, ann.id),
      () => spaces.remove(actor, space.id),
      () => invitations.create(actor, space.id, { email: null, role: "admin" }),
      () => invitations.revoke(actor, space.id, "inv_1"),
    ];
    for (const change of changes(bob.id)) {
      expect(await rejectionOf(change())).toMatchObject({ code: "forbidden" });
    }
    for (const change of changes(eve.id)) {
      expect(await rejectionOf(change())).toMatchObject(NOT_FOUND);
    }
    expect((await spaces.admit(ann.id))?.spaces).toEqual([space]);
  });

  test("the last admin stays until another one is there or the space is gone", async () => {
    const { spaces, invitations, accounts, space, ann, bob } = await storesAt(place);
    const { secret } = await invitations.create(ann.id, space.id, { email: null, role: "read" });
    await invitations.acceptLink(bob, secret);
    expect(await rejectionOf(spaces.removeMember(ann.id, space.id, ann.id))).toMatchObject(
      CONFLICT,
    );
    expect(await rejectionOf(spaces.setRole(ann.id, space.id, ann.id, "write"))).toMatchObject(
      CONFLICT,
    );
    expect(await rejectionOf(accounts.remove(ann.id))).toMatchObject(CONFLICT);
    await spaces.setRole(ann.id, space.id, bob.id, "admin");
    await spaces.removeMember(ann.id, space.id, ann.id);
    expect((await spaces.admit(ann.id))?.spaces).toEqual([]);
    await accounts.remove(bob.id);
    expect(await spaces.list()).toEqual([]);
    expect((await accounts.removed()).sort()).toEqual([bob.id, space.id].sort());
  });

  test("who leaves loses the keys that are bound to the space, and no others", async () => {
    const { spaces, invitations, keys, space, ann, bob, db } = await storesAt(place);
    const { secret } = await invitations.create(ann.id, space.id, { email: null, role: "write" });
    await invitations.acceptLink(bob, secret);
    const wanted = { name: "k", scopes: ["memories:read"], expiresAt: null } as const;
    const bound = await keys.create(bob.id, { ...wanted, spaceId: space.id });
    const own = await keys.create(bob.id, wanted);
    const others = await keys.create(ann.id, { ...wanted, spaceId: space.id });
    expect(await keys.authenticate(bound.key)).toMatchObject({ spaceId: space.id });
    const grants = [await grantOf(db, bob.id, space.id), await grantOf(db, bob.id)];
    expect(await Promise.all(grants.map((grant) => grant()))).toEqual([true, true]);
    await spaces.removeMember(bob.id, space.id, bob.id);
    expect(await Promise.all(grants.map((grant) => grant()))).toEqual([false, true]);
    expect(await keys.authenticate(bound.key)).toBeNull();
    expect(await keys.authenticate(own.key)).toMatchObject({ spaceId: null });
    expect(await keys.authenticate(others.key)).toMatchObject({ spaceId: space.id });
  });

  test("a closed space is as if it were not there, and comes back", async () => {
    const { spaces, space, ann } = await storesAt(place);
    await spaces.setDisabled(space.id, true);
    expect((await spaces.admit(ann.id))?.spaces).toEqual([]);
    const renaming = spaces.change(ann.id, space.id, { name: "x" });
    expect(await rejectionOf(renaming)).toMatchObject(NOT_FOUND);
    await spaces.setDisabled(space.id, false);
    expect((await spaces.admit(ann.id))?.spaces).toEqual([space]);
    await spaces.remove(ann.id, space.id);
    expect(await spaces.list()).toEqual([]);
  });
});

describe.each(DATABASES)("on %s,", (_, place) => {
  test("a person can be in a hundred spaces, and then joins no other", async () => {
    const { spaces, invitations, space, ann, bob } = await storesAt(place);
    for (let at = 0; at < 100; at++) await spaces.create(bob.id, `space ${at}`);
    const full = { code: "conflict", message: expect.stringContaining("100") };
    expect(await rejectionOf(spaces.create(bob.id, "one more"))).toMatchObject(full);
    const { secret } = await invitations.create(ann.id, space.id, { email: null, role: "read" });
    expect(await rejectionOf(invitations.acceptLink(bob, secret))).toMatchObject(full);
    expect(await invitations.find(secret)).not.toBeNull();
  });
});
