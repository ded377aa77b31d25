import { expect, test } from "bun:test";
import { createInvitations } from "../../src/accounts/invitations.ts";
import { createLocalEphemeral } from "../../src/db/ephemeral.ts";
import { createHashing } from "../../src/sign-in/sign-in.ts";
import { createSignUp } from "../../src/sign-in/sign-up/sign-up.ts";
import { rejectionOf } from "../support/outcome.ts";
import { testStores } from "../support/stores.ts";

const OWNER = "you@example.com";
const PASSWORD = "correct horse";

test("an invitation can be revoked while it is used repeatedly, and stays revoked", async () => {
  const { accounts, db, clock } = testStores();
  await accounts.add({ email: OWNER, password: null });
  const invitations = createInvitations({ db, clock });
  const parts = {
    accounts,
    invitations,
    hashing: createHashing(),
    ephemeral: createLocalEphemeral(clock),
  };
  const { accept } = createSignUp({
    ...parts,
    registration: "first",
    setUpToken: { accepts: async () => false },
  });
  const { secret, invitation } = await invitations.create(null);

  // The request fails after the hashing, because the address is taken.
  const trying = accept(secret, { email: OWNER, password: PASSWORD });
  expect(await invitations.list()).toHaveLength(1);
  await invitations.revoke(invitation.id);
  expect(await rejectionOf(trying)).toMatchObject({ code: "not_found" });
  expect(await invitations.list()).toEqual([]);

  // A request that was about to succeed fails too.
  const second = await invitations.create(null);
  const joining = accept(second.secret, { email: "eve@example.com", password: PASSWORD });
  await invitations.revoke(second.invitation.id);
  expect(await rejectionOf(joining)).toMatchObject({ code: "not_found" });
  expect(await accounts.list()).toHaveLength(1);
});
