import { describe, expect, spyOn, test } from "bun:test";
import { createAccounts } from "../../src/accounts/accounts.ts";
import type { Database } from "../../src/db/database.ts";
import { createLog } from "../../src/log.ts";
import { EVENTS, type Facts, isEvent } from "../../src/security-log/events.ts";
import { testClock, testDatabase } from "../support/database.ts";
import { DATABASES } from "../support/databases.ts";
import { testSecurityLog } from "../support/security-log.ts";
import { addAccount } from "../support/stores.ts";
import { until } from "../support/until.ts";

const MINUTE = 60_000;
const HERE = { accountId: null, via: "browser", address: "203.0.113.7" } as const;

/** A security log, its log lines and its rows. */
function start<Kind extends Database>(db: Kind) {
  const clock = testClock();
  const lines: string[] = [];
  const log = createLog({ logLevel: "info", logFormat: "text" }, (line) => lines.push(line));
  const securityLog = testSecurityLog({ db, clock, log });
  const all = () => securityLog.list(null, {}, { limit: 100_000 });
  return { ...securityLog, db, clock, lines, all };
}

describe.each(DATABASES)("a security log on %s:", (_, place) => {
  const open = async () => (await place()).open();

  describe("an event", () => {
    test("is logged immediately, and soon written to the table", async () => {
      const { record, lines, all, clock } = start(await open());
      const facts: Facts = { ...HERE, subjectId: "key_1", subject: "laptop", agent: "curl/8" };
      record("key_created", { ...facts, accountId: null });
      expect(lines.map((line) => line.replace(/^\S+ /, ""))).toEqual([
        "info security kind=key_created address=203.0.113.7 via=browser id=key_1 name=laptop",
      ]);
      await until("the event is in the table", async () => (await all()).length > 0);
      expect(await all()).toEqual([
        {
          id: 1,
          at: new Date(clock()),
          event: "key_created",
          accountId: null,
          actorId: null,
          via: "browser",
          address: "203.0.113.7",
          agent: "curl/8",
          subjectId: "key_1",
          subject: "laptop",
          amount: null,
          times: 1,
        },
      ]);
    });

    test("that is repeated within a minute is counted, and its amounts are added", async () => {
      const { record, flush, all, clock } = start(await open());
      record("memories_deleted", { ...HERE, amount: 2 });
      await flush();
      record("memories_deleted", { ...HERE, amount: 3 });
      await flush();
      expect(await all()).toMatchObject([{ times: 2, amount: 5 }]);
      clock.advance(MINUTE);
      record("memories_deleted", { ...HERE, amount: 1 });
      await flush();
      expect(await all()).toMatchObject([
        { times: 1, amount: 1 },
        { times: 2, amount: 5 },
      ]);
    });

    test("is written when the log is closed", async () => {
      const { record, close, all } = start(await open());
      record("signed_in", HERE);
      await close();
      expect(await all()).toHaveLength(1);
    });

    test("that is recorded after the log is closed is logged, without waiting for the database", async () => {
      const { record, close, lines } = start(await open());
      await close();
      const wait = spyOn(globalThis, "setTimeout");
      record("signed_out", HERE);
      expect(wait).not.toHaveBeenCalled();
      expect(lines).toEqual([expect.stringContaining("kind=signed_out")]);
      wait.mockRestore();
    });

    test("is recognized by its name, and properties of objects are not names", () => {
      expect(isEvent("signed_in")).toBe(true);
      expect(isEvent("toString")).toBe(false);
      expect(Object.keys(EVENTS).every((name) => /^[a-z_]+$/.test(name))).toBe(true);
    });
  });

  describe("of the events of a removed account", () => {
    test("only its id remains", async () => {
      const db = await open();
      const { record, flush, all } = start(db);
      const accounts = createAccounts({ db, clock: Date.now });
      const owner = await addAccount(accounts, "you@example.com");
      const { id: accountId } = await addAccount(accounts, "bob@example.com");
      const theirs = { ...HERE, accountId, agent: "Firefox", subject: "bob's laptop" };
      record("key_created", theirs);
      await flush();
      record("key_revoked", theirs);
      await accounts.remove(accountId);
      record("account_removed", { ...HERE, accountId, actorId: owner.id, address: "192.0.2.1" });
      await flush();
      const ofPerson = { accountId, address: null, agent: null, subject: null };
      expect(await all()).toMatchObject([
        { accountId, actorId: owner.id, address: "192.0.2.1" },
        ofPerson,
        ofPerson,
      ]);
    });
  });

  describe("the table", () => {
    test("returns only the events of the account, newest first, in pages", async () => {
      const { record, flush, list, clock } = start(await open());
      for (const event of ["signed_in", "key_created", "signed_out"] as const) {
        for (const accountId of ["acc_1", "acc_2"]) record(event, { ...HERE, accountId });
        clock.advance(1_000);
      }
      await flush();
      const [first, second] = await list("acc_1", {}, { limit: 2 });
      expect([first?.event, second?.event]).toEqual(["signed_out", "key_created"]);
      const rest = await list("acc_1", {}, { limit: 2, before: second?.id ?? 0 });
      expect(rest).toMatchObject([{ event: "signed_in", accountId: "acc_1" }]);
    });

    test("is filtered by event, address and time", async () => {
      const { record, flush, list, clock } = start(await open());
      record("signed_in", HERE);
      const later = new Date(clock() + 1_000);
      clock.advance(1_000);
      record("signed_in", { ...HERE, address: "192.0.2.1" });
      record("signed_out", HERE);
      await flush();
      const found = async (filter: Parameters<typeof list>[1]) =>
        (await list(null, filter, { limit: 10 })).map(
          ({ event, address }) => `${event} ${address}`,
        );
      expect(await found({ event: "signed_in" })).toEqual([
        "signed_in 192.0.2.1",
        "signed_in 203.0.113.7",
      ]);
      expect(await found({ address: "192.0.2.1" })).toEqual(["signed_in 192.0.2.1"]);
      expect(await found({ from: later })).toEqual([
        "signed_out 203.0.113.7",
        "signed_in 192.0.2.1",
      ]);
      expect(await found({ until: later })).toEqual(["signed_in 203.0.113.7"]);
    });

    test("loses only old events, in portions", async () => {
      const { record, flush, prune, all, clock } = start(await open());
      for (let day = 0; day < 500; day++) {
        record("signed_in", HERE);
        await flush();
        clock.advance(24 * 3_600_000);
      }
      const moment = new Date(clock() - 90 * 24 * 3_600_000);
      let portions = 0;
      while (portions < 500 && (await prune(moment))) portions++;
      expect(portions).toBeGreaterThan(1);
      expect(await all()).toHaveLength(90);
    });
  });
});

describe("a database that can't be written", () => {
  test("makes no request fail, and receives waiting events as soon as it can be written", async () => {
    const { record, flush, all, db, lines } = start(testDatabase());
    db.sqlite.run("PRAGMA query_only = ON");
    record("signed_in", HERE);
    await flush();
    expect(lines.at(-1)).toContain("warn security_log_waits entries=1");
    record("signed_out", HERE);
    db.sqlite.run("PRAGMA query_only = OFF");
    await flush();
    expect((await all()).map(({ event }) => event)).toEqual(["signed_out", "signed_in"]);
  });

  test("costs a limited amount of memory, and lost events are logged", async () => {
    const { record, flush, close, all, db, lines } = start(testDatabase());
    db.sqlite.run("PRAGMA query_only = ON");
    for (let account = 0; account < 6_000; account++) {
      record("signed_in", { ...HERE, accountId: `acc_${account}` });
    }
    db.sqlite.run("PRAGMA query_only = OFF");
    await flush();
    expect(lines.at(-1)).toContain("error security_log_lost entries=1000");
    await close();
    expect(await all()).toHaveLength(5_000);
  });
});
