import { expect, test } from "bun:test";
import { createLog } from "../../src/log.ts";
import type { SecurityEvent } from "../../src/security-log/events.ts";
import { testClock, testDatabase } from "../support/database.ts";
import { testSecurityLog } from "../support/security-log.ts";
import { until } from "../support/until.ts";

const HOUR = 3_600_000;

function start() {
  const clock = testClock();
  const db = testDatabase();
  const lines: string[] = [];
  const log = createLog({ logLevel: "info", logFormat: "text" }, (line) => lines.push(line));
  const securityLog = testSecurityLog({ db, clock, log });
  /** The rows of a minute once more for each of further minutes, in one statement instead of in thousands. */
  const goOn = (event: SecurityEvent, minutes: number) =>
    db.sqlite.run(
      `WITH RECURSIVE minutes(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM minutes WHERE n < ${minutes})
       INSERT INTO security_events (at, event, account_id, via, address, subject_id, times)
       SELECT at + n * 60000, event, account_id, via, address, subject_id, times
       FROM minutes, security_events WHERE event = ?`,
      [event],
    ).changes;
  return {
    ...securityLog,
    clock,
    lines,
    goOn,
    all: () => securityLog.list(null, {}, { limit: 1e6 }),
  };
}

const address = (number: number) => `198.51.${(number >> 8) & 255}.${number & 255}`;

test("a thousand failed sign-ins a second from one address do not fill the disk", async () => {
  const { record, clock, lines, flush, all } = start();
  for (let second = 0; second < 60; second++) {
    for (let tries = 0; tries < 1_000; tries++) {
      record("sign_in_failed", { accountId: null, via: "browser", address: address(1) });
    }
    await flush();
    clock.advance(1_000);
  }
  expect(await all()).toMatchObject([{ times: 60_000 }]);
  expect(lines.length).toBeLessThan(30);
});

test("a thousand failed sign-ins a second from a thousand addresses do not fill the disk", async () => {
  const { record, clock, lines, flush, all } = start();
  for (let minute = 0; minute < 3; minute++) {
    for (let tries = 0; tries < 60_000; tries++) {
      record("sign_in_failed", { accountId: null, via: "browser", address: address(tries) });
    }
    await flush();
    clock.advance(60_000);
  }
  await flush();
  const rows = await all();
  expect(rows.length).toBeLessThanOrEqual(3 * 201);
  // Every failed sign-in is counted.
  expect(rows.reduce((sum, { times }) => sum + times, 0)).toBe(180_000);
  expect(lines.length).toBeLessThan(3 * 1_000);
});

test("failed sign-ins do not displace other events", async () => {
  const { record, clock, flush, prune, goOn, all } = start();
  record("key_created", { accountId: "acc_1", via: "browser", address: address(1) });
  for (let tries = 0; tries < 250; tries++) {
    record("sign_in_failed", { accountId: "acc_1", via: "browser", address: address(tries) });
  }
  await flush();
  expect(goOn("sign_in_failed", 260)).toBeGreaterThan(50_000);
  clock.advance(261 * 60_000);
  await until("old events are pruned", async () => !(await prune(new Date(clock() - 24 * HOUR))));
  const rows = await all();
  expect(rows.length).toBeLessThanOrEqual(50_001);
  expect(rows.at(-1)?.event).toBe("key_created");
});

test("creating and revoking keys does not fill the table", async () => {
  const { record, clock, flush, prune, goOn, list } = start();
  record("signed_in", { accountId: "acc_2", via: "browser" });
  for (let key = 0; key < 1_000; key++) {
    record("key_created", { accountId: "acc_1", via: "browser", subjectId: `key_${key}` });
  }
  await flush();
  expect(goOn("key_created", 60)).toBeGreaterThan(10_000);
  clock.advance(61 * 60_000);
  await until("old events are pruned", async () => !(await prune(new Date(clock() - 24 * HOUR))));
  expect((await list("acc_1", {}, { limit: 1e6 })).length).toBeLessThanOrEqual(10_000);
  expect(await list("acc_2", {}, { limit: 10 })).toHaveLength(1);
});
