import { describe, expect, test } from "bun:test";
import { revokeAccess } from "../../src/access/revoke-access.ts";
import { createInvitations } from "../../src/accounts/invitations.ts";
import { createQuotas } from "../../src/accounts/quotas.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { createGrants } from "../../src/oauth/grants.ts";
import { createFactors } from "../../src/sign-in/factors.ts";
import { createIdentities } from "../../src/sign-in/identities.ts";
import { createPendingSignIns } from "../../src/sign-in/pending-sign-ins.ts";
import { readServerSecret } from "../../src/sign-in/server-secret.ts";
import { createSessions, SESSION_LIFETIME } from "../../src/sign-in/sessions.ts";
import { createRemoveSignInMethod } from "../../src/sign-in/sign-in-methods.ts";
import { DATABASES, storesOn } from "../support/databases.ts";
import { addAccount } from "../support/stores.ts";

const MINUTE = 60_000;
const isDone = ({ status }: PromiseSettledResult<unknown>) => status === "fulfilled";

describe.each(DATABASES)("on %s,", (_, place) => {
  test("a session is every process's, the newest first, until it ends or its time is over", async () => {
    const { db, beside, clock, accounts } = await storesOn(place);
    const sessions = createSessions({ db, clock });
    const other = createSessions({ db: (await beside()).db, clock });
    const { id } = await addAccount(accounts);
    const first = await sessions.begin(id, "Firefox");
    clock.advance(MINUTE);
    const second = await sessions.begin(id, "curl\tand more");
    expect(await other.findAccount(first)).toBe(id);
    expect((await other.list(id)).map(({ browser }) => browser)).toEqual([
      "curl\tand more",
      "Firefox",
    ]);
    expect(await other.isProved(second)).toBe(true);
    expect(await other.revokeOthers(id, second)).toBe(1);
    expect(await sessions.findAccount(first)).toBeNull();
    clock.advance(SESSION_LIFETIME);
    expect(await sessions.findAccount(second)).toBeNull();
  });

  test("sessions end with another password and with disabling, whoever does that", async () => {
    const { db, clock, accounts, another } = await storesOn(place);
    const sessions = createSessions({ db, clock });
    await addAccount(accounts);
    const { id } = await addAccount(accounts, "bob@example.com");
    const one = await sessions.begin(id);
    await (await another()).accounts.setPassword(id, "correct horse battery");
    expect(await sessions.findAccount(one)).toBeNull();
    const two = await sessions.begin(id);
    await (await another()).accounts.disable(id);
    expect(await sessions.findAccount(two)).toBeNull();
    expect(await accounts.admit(id)).toBeNull();
    await accounts.enable(id);
    expect(await accounts.admit(id)).toMatchObject({ id, disabledAt: null });
    expect(await sessions.list(id)).toEqual([]);
  });

  test("no session outlasts the password that it began with, when both come at once", async () => {
    const { beside, clock, accounts } = await storesOn(place);
    await addAccount(accounts);
    const other = (await beside()).db;
    const sessions = createSessions({ db: other, clock });
    const pending = createPendingSignIns({ db: other, clock });
    const email = "bob@example.com";
    let password = "the password before";
    const { id } = await accounts.add({ email, password });
    for (let round = 0; round < 10; round++) {
      const verified = await accounts.verifyPassword(email, password);
      const conditions = { passwordMark: verified?.passwordMark };
      password = `the password of ${round}`;
      const begun = await Promise.allSettled([
        ...[accounts.setPassword(id, password), sessions.begin(id, "", conditions)],
        ...[pending.begin(id, null, conditions), sessions.begin(id, "", conditions)],
      ]);
      expect(begun[0]?.status).toBe("fulfilled");
      expect(await sessions.list(id)).toEqual([]);
      for (const each of begun.slice(1)) {
        if (each.status === "fulfilled") expect(await pending.find(`${each.value}`)).toBeNull();
        else expect(each.reason).toMatchObject({ code: "forbidden" });
      }
      await expect(sessions.begin(id, "", conditions)).rejects.toMatchObject({ code: "forbidden" });
    }
  });

  test("a second step begins one session, and none when access is revoked meanwhile", async () => {
    const { db, beside, clock, accounts } = await storesOn(place);
    const { id } = await addAccount(accounts);
    const sessions = createSessions({ db, clock });
    const other = (await beside()).db;
    const pendingSignIns = createPendingSignIns({ db: other, clock });
    const pending = await pendingSignIns.begin(id, null);
    const begin = () => sessions.begin(id, "", { pending });
    const begun = await Promise.allSettled([begin(), begin(), begin()]);
    expect(begun.filter(isDone)).toHaveLength(1);
    const keys = createKeys({ db: other, clock });
    const grants = createGrants({ db: other, clock });
    for (let round = 0; round < 10; round++) {
      const secret = await pendingSignIns.begin(id, null);
      const outcome = sessions.begin(id, "", { pending: secret }).catch(() => null);
      const all = { pendingSignIns, grants, keys, sessions: createSessions({ db: other, clock }) };
      await Promise.all([outcome, revokeAccess(id, all)]);
      expect(await sessions.list(id)).toEqual([]);
    }
  });

  test("an identity signs in to one account", async () => {
    const { db, clock, accounts } = await storesOn(place);
    const identities = createIdentities({ db, clock });
    const [one, two] = [await addAccount(accounts), await addAccount(accounts, "b@example.com")];
    const identity = { issuer: "https://id.example.com", subject: "7" };
    const links = [one, two, one].map(({ id }) => identities.link(id, identity));
    expect((await Promise.allSettled(links)).filter(isDone).length).toBeGreaterThan(0);
    const owner = await identities.findAccount(identity);
    const [loser] = [one, two].filter(({ id }) => id !== owner);
    await expect(identities.link(loser?.id ?? "", identity)).rejects.toMatchObject({
      code: "conflict",
    });
    expect(await identities.issuers(owner ?? "")).toEqual([identity.issuer]);
    await identities.unlink(owner ?? "", identity.issuer);
    expect(await identities.findAccount(identity)).toBeNull();
  });

  test("a recovery code is used once, however many use it at once", async () => {
    const { db, beside, clock, accounts } = await storesOn(place);
    const { id } = await addAccount(accounts);
    const stores = [
      createFactors({ db, clock }),
      createFactors({ db: (await beside()).db, clock }),
    ];
    const [code = ""] = (await stores[0]?.recoveryCodes.replace(id)) ?? [];
    const used = await Promise.all(
      [...stores, ...stores].map(({ recoveryCodes }) => recoveryCodes.use(id, code)),
    );
    expect(used.filter(Boolean)).toHaveLength(1);
  });

  test("of two ways to sign in that are taken away at once, one stays", async () => {
    const { db, beside, clock, accounts } = await storesOn(place);
    const { id } = await addAccount(accounts);
    const waysOn = (on: typeof db) => {
      const identities = createIdentities({ db: on, clock });
      const factors = createFactors({ db: on, clock });
      return {
        identities,
        take: createRemoveSignInMethod({ db: on, accounts, identities, factors }),
      };
    };
    const servers = [waysOn(db), waysOn((await beside()).db)] as const;
    const issuers = ["https://one.example.com", "https://two.example.com"] as const;
    for (let round = 0; round < 5; round++) {
      for (const issuer of issuers) await servers[0].identities.link(id, { issuer, subject: "7" });
      const taken = servers.map(({ identities, take }, n) =>
        take(
          id,
          (tx) => identities.unlink(id, issuers[n] ?? "", tx),
          (left) => left.issuers.length > 0,
          "this is your only way in",
        ),
      );
      expect((await Promise.allSettled(taken)).filter(isDone)).toHaveLength(1);
      expect(await servers[1].identities.issuers(id)).toHaveLength(1);
    }
  });

  test("an invitation makes one account, and stays when it could make none", async () => {
    const { db, clock, accounts } = await storesOn(place);
    const invitations = createInvitations({ db, clock });
    await addAccount(accounts);
    const { secret, invitation } = await invitations.create("Bob@example.com");
    expect(await invitations.list()).toEqual([invitation]);
    const known = await accounts.prepareMember({ email: "you@example.com", password: null });
    await expect(invitations.use(secret, known)).rejects.toMatchObject({ code: "conflict" });
    const names = ["one@example.com", "two@example.com", "three@example.com"];
    const uses = names.map(async (email) => {
      const make = await accounts.prepareMember({ email, password: null });
      return await invitations.use(secret, make);
    });
    expect((await Promise.allSettled(uses)).filter(isDone)).toHaveLength(1);
    expect(await accounts.list()).toHaveLength(2);
    expect(await invitations.find(secret)).toBeNull();
  });

  test("a server has one owner, however many come at once", async () => {
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
    await expect(other.disable(member?.id ?? "")).rejects.toMatchObject({ code: "forbidden" });
    await expect(other.remove(member?.id ?? "")).rejects.toMatchObject({ code: "conflict" });
  });

  test("the agent's own account is made once, and named once", async () => {
    const { accounts, beside } = await storesOn(place);
    const other = (await beside()).accounts;
    const made = await Promise.all([accounts, other, accounts].map((each) => each.addLocalOwner()));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await accounts.isSetUp()).toBe(false);
    const named = await other.nameLocalOwner({ email: "you@example.com", password: null });
    expect(named).toMatchObject({ id: made[0]?.id ?? "", email: "you@example.com" });
  });

  test("a quota is the account's own, or that of members", async () => {
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

  test("a secret of the servers is the same for all", async () => {
    const { db, beside } = await storesOn(place);
    const { db: other } = await beside();
    const read = await Promise.all([db, other, db].map((each) => readServerSecret(each, "etags")));
    expect(new Set(read).size).toBe(1);
    expect(await readServerSecret(other, "another")).not.toBe(read[0] ?? "");
  });
});
