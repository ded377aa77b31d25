import { describe, expect, test } from "bun:test";
import { createInvitations } from "../../src/accounts/invitations.ts";
import { createQuotas } from "../../src/accounts/quotas.ts";
import { DATABASES, storesOn } from "../support/databases.ts";
import { rejectionOf } from "../support/outcome.ts";
import { addAccount } from "../support/stores.ts";

const isDone = ({ status }: PromiseSettledResult<unknown>) => status === "fulfilled";

describe.each(DATABASES)("on %s,", (_, place) => {
  test("an invitation creates one account, and remains valid if the account could not be created", async () => {
    const { db, clock, accounts } = await storesOn(place);
    const invitations = createInvitations({ db, clock });
    await addAccount(accounts);
    const { secret, invitation } = await invitations.create("Bob@example.com");
    expect(await invitations.list()).toEqual([invitation]);
    const known = await accounts.prepareMember({ email: "you@example.com", password: null });
    expect(await rejectionOf(invitations.use(secret, known))).toMatchObject({ code: "conflict" });
    const names = ["one@example.com", "two@example.com", "three@example.com"];
    const uses = names.map(async (email) => {
      const make = await accounts.prepareMember({ email, password: null });
      return await invitations.use(secret, make);
    });
    expect((await Promise.allSettled(uses)).filter(isDone)).toHaveLength(1);
    expect(await accounts.list()).toHaveLength(2);
    expect(await invitations.find(secret)).toBeNull();
  });

  test("a server has one owner, even if several people set it up at the same time", async () => {
    const { accounts, beside } = await storesOn(place);
    const other = (await beside()).accounts;
    const emails = ["a@example.com", "b@example.com", "c@example.com", "d@example.com"];
    const claims = emails.map((email, n) =>
      (n % 2 ? accounts : other).setUp({ email, password: null }),
    );
    expect((await Promise.allSettled(claims)).filter(isDone)).toHaveLength(1);
    const members = emails.map((_, n) =>
      (n % 2 ? accounts : other).add({ email: `m${n}@example.com`, password: null }),
    );
    await Promise.all(members);
    const owner = await accounts.findOwner();
    const [member] = (await accounts.list()).filter(({ role }) => role === "member");
    expect(await accounts.handOver(member?.id ?? "")).toEqual(owner);
    const owners = (await other.list()).filter(({ role }) => role === "owner");
    expect(owners.map(({ id }) => id)).toEqual([member?.id ?? ""]);
    expect(await rejectionOf(other.disable(member?.id ?? ""))).toMatchObject({ code: "forbidden" });
    expect(await rejectionOf(other.remove(member?.id ?? ""))).toMatchObject({ code: "conflict" });
  });

  test("the account of local agents is created once, and its owner is named once", async () => {
    const { accounts, beside } = await storesOn(place);
    const other = (await beside()).accounts;
    const made = await Promise.all([accounts, other, accounts].map((each) => each.addLocalOwner()));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await accounts.isSetUp()).toBe(false);
    const named = await other.nameLocalOwner({ email: "you@example.com", password: null });
    expect(named).toMatchObject({ id: made[0]?.id ?? "", email: "you@example.com" });
  });

  test("an account has its own quota, or else the quota of members", async () => {
    const { db, accounts } = await storesOn(place);
    const ofMembers = { memories: 5, bytes: null };
    const quotas = createQuotas({ db, ofMembers });
    const owner = await addAccount(accounts);
    const { id } = await addAccount(accounts, "bob@example.com");
    expect([await quotas.of(owner.id), await quotas.of(id)]).toEqual([null, ofMembers]);
    const own = { memories: null, bytes: 2 ** 40 };
    await quotas.set(id, own);
    await quotas.set(owner.id, own);
    expect([await quotas.of(owner.id), await quotas.of(id)]).toEqual([own, own]);
    await quotas.set(id, { memories: null, bytes: null });
    expect(await quotas.of(id)).toBeNull();
  });
});
