import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { databasePath } from "../../src/db/data-lock.ts";
import { checkCaptures, readerOf } from "../../src/doctor/captures.ts";
import { temporaryFolder } from "../support/database.ts";
import { openRecorded } from "../support/recorded-data.ts";

const DAY = 86_400_000;
const now = Date.parse("2026-11-27T12:00:00Z");

test("the doctor tells what agents brought, and warns about hooks that capture nothing", async () => {
  const dataDir = temporaryFolder();
  let id = "";
  {
    using data = openRecorded(dataDir);
    ({ id } = await data.accounts.add({ email: "you@example.com", password: null }));
  }
  using sqlite = new Database(databasePath(dataDir));
  const find = (capturing: readonly string[]) =>
    Array.fromAsync(checkCaptures(readerOf(sqlite), { now, capturing }));
  expect(await find([])).toMatchObject([
    { state: "ok", message: "no agent has used the memories yet" },
  ]);
  for (const ago of [1, 2]) {
    const at = now - ago * DAY;
    sqlite
      .query("INSERT INTO activity_days VALUES (?, ?, 'saved', 'local', 'codex', '', 1, 0, 3, ?)")
      .run(id, new Date(at).toISOString().slice(0, 10), at);
  }
  const [well] = await find([]);
  expect(well?.state).toBe("ok");
  expect(well?.message).toContain("codex on this machine: last capture never, last recall never");
  expect(well?.message).toContain("6 memories brought in 90 days, 0 of them of use");
  sqlite.query("INSERT INTO use_settings VALUES (?, NULL)").run(id);
  const [uncounted] = await find([]);
  expect(uncounted?.message).toMatch(/6 memories brought in 90 days$/);
  expect(await find(["codex"])).toMatchObject([
    { state: "warning", message: expect.stringContaining("captured nothing so far") },
  ]);
});
