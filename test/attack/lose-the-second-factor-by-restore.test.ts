import { expect, test } from "bun:test";
import { join } from "node:path";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { databasePath } from "../../src/db/data-lock.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { createPasskeyChallenges } from "../../src/sign-in/passkeys/passkeys.ts";
import { createFactors } from "../../src/sign-in/second-step/factors.ts";
import { toBase32 } from "../../src/sign-in/second-step/one-time-codes.ts";
import { createPendingSignIns } from "../../src/sign-in/second-step/second-step.ts";
import { createCodeApp } from "../support/code-app.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";

const env = { CTXD_CACHE_DIR: testCacheDir };

function open(dataDir: string) {
  const db = openSqlite(databasePath(dataDir));
  const stores = { db, clock: Date.now };
  return {
    db,
    accounts: createAccounts(stores),
    factors: createFactors(stores),
    pendingSignIns: createPendingSignIns(stores),
    challenges: createPasskeyChallenges(stores),
  };
}

test("a restore keeps the second factors, and revives no pending sign-in", async () => {
  const folder = temporaryFolder();
  const [dataDir, backup, target] = ["data", "backup", "restored"].map((name) =>
    join(folder, name),
  );
  const before = open(dataDir ?? "");
  const { id } = await before.accounts.add({ email: "you@example.com", password: null });
  const publicKey = new Uint8Array([1, 2, 3]);
  const passkey = { id: "a", publicKey, counter: 7, transports: ["internal"] };
  await before.factors.passkeys.add(id, { ...passkey, name: "Laptop" });
  await before.factors.oneTimeCodes.begin(id);
  const secret = (await before.factors.oneTimeCodes.findUnconfirmed(id)) ?? new Uint8Array();
  const app = createCodeApp(toBase32(secret), Date.now);
  expect(await before.factors.oneTimeCodes.confirm(id, app.code(-1))).toBe(true);
  const [code = ""] = await before.factors.recoveryCodes.replace(id);
  const pending = await before.pendingSignIns.begin(id, null);
  await before.challenges.create("browser", "sign-in");
  await before.db.close();

  const options = { dataDir: dataDir ?? "", env };
  expect((await ctxd(["backup", backup ?? ""], options)).exitCode).toBe(0);
  const restored = await ctxd(["restore", backup ?? ""], { dataDir: target ?? "", env });
  expect(restored.exitCode).toBe(0);

  const after = open(target ?? "");
  expect(await after.factors.kinds(id)).toEqual(["passkey", "code"]);
  expect(await after.factors.passkeys.find(id, "a")).toEqual(passkey);
  expect(await after.factors.oneTimeCodes.use(id, app.code(), null)).toBe(true);
  expect(await after.factors.recoveryCodes.use(id, code)).toBe(true);
  expect(await after.pendingSignIns.find(pending)).toBeNull();
  expect(await after.challenges.take("browser", "sign-in")).toBeNull();
  await after.db.close();
});
