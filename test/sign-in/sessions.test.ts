import { describe, expect, test } from "bun:test";
import { revokeAccess } from "../../src/access/revoke-access.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { createGrants } from "../../src/oauth/grants.ts";
import { createPendingSignIns } from "../../src/sign-in/second-step/second-step.ts";
import { createSessions, SESSION_LIFETIME } from "../../src/sign-in/sessions/sessions.ts";
import { DATABASES, storesOn } from "../support/databases.ts";
import { rejectionOf } from "../support/outcome.ts";
import { addAccount } from "../support/stores.ts";

const MINUTE = 60_000;
const isDone = ({ status }: PromiseSettledResult<unknown>) => status === "fulfilled";

describe.each(DATABASES)("on %s,", (_, place) => {
  test("all processes see a session until it is revoked or expires, and list the newest first", async () => {
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
    expect(await other.revokeAll(id, second)).toBe(1);
    expect(await sessions.findAccount(first)).toBeNull();
    clock.advance(SESSION_LIFETIME);
    expect(await sessions.findAccount(second)).toBeNull();
  });

  test("a new password and disabling the account end its sessions, also when another process does it", async () => {
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

  test("no session with the former password begins while the password is changed", async () => {
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
      expect(await rejectionOf(sessions.begin(id, "", conditions))).toMatchObject({
        code: "forbidden",
      });
    }
  });

  test("a second step begins one session, and none if access is revoked at the same time", async () => {
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
});
