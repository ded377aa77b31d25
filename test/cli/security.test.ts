import { expect, test } from "bun:test";
import { join } from "node:path";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { spawnServer } from "../support/server-process.ts";
import { addAccount, testStores } from "../support/stores.ts";
import { until } from "../support/until.ts";

async function withKey() {
  const dataDir = temporaryFolder();
  const stores = testStores(dataDir);
  const { id: accountId } = await addAccount(stores.accounts);
  const create = ["key", "create", "--user", "you@example.com", "--name", "laptop"];
  expect((await ctxd(create, { dataDir })).exitCode).toBe(0);
  return { dataDir, accountId, ...stores };
}

test("security lists the events as text columns and as JSON", async () => {
  const { dataDir, accountId, keys } = await withKey();
  const [key] = await keys.list(accountId);
  const table = await ctxd(["security"], { dataDir });
  expect(table).toMatchObject({ stderr: "", exitCode: 0 });
  expect(table.stdout).toMatch(/^WHEN +EVENT +ACCOUNT/);
  expect(table.stdout).toContain(`${key?.prefix}… laptop`);
  const { stdout } = await ctxd(["security", "--json", "--user", "you@example.com"], { dataDir });
  expect(JSON.parse(stdout)).toMatchObject([
    { event: "key_created", account_id: accountId, via: "command", subject_id: key?.id, times: 1 },
  ]);
});

test("an unknown event is refused with the list of events, and no match prints nothing", async () => {
  const { dataDir } = await withKey();
  const unknown = await ctxd(["security", "--event", "constructor"], { dataDir });
  expect(unknown).toMatchObject({ exitCode: 2, stdout: "" });
  expect(unknown.stderr).toContain("sign_in_failed");
  const none = await ctxd(["security", "--event", "sign_in_failed"], { dataDir });
  expect(none).toMatchObject({ exitCode: 0, stdout: "" });
  expect((await ctxd(["security", "--limit", "0"], { dataDir })).exitCode).toBe(2);
});

test("a running server logs the changes of commands once", async () => {
  const { dataDir, accountId } = await withKey();
  await using server = spawnServer(dataDir, "impatient");
  await server.origin();
  const create = ["key", "create", "--user", "you@example.com", "--name", "phone"];
  await ctxd(create, { dataDir });
  await until("the new key is logged", () => server.errors().includes("kind=key_created"));
  await ctxd(["user", "revoke", "you@example.com", "--yes"], { dataDir });
  await until("the revocation is logged", () => server.errors().includes("kind=access_revoked"));
  const logged = server.errors().match(/info security kind=\S+ account=\S+ via=command/g);
  expect([...(logged ?? [])]).toEqual(
    ["key_created", "access_revoked"].map(
      (kind) => `info security kind=${kind} account=${accountId} via=command`,
    ),
  );
});

test("a backup is recorded in its source, and a restore in the restored data", async () => {
  const { dataDir } = await withKey();
  const env = { CTXD_CACHE_DIR: testCacheDir };
  const [folder, restored] = [join(temporaryFolder(), "backup"), join(temporaryFolder(), "data")];
  expect((await ctxd(["backup", folder], { dataDir, env })).exitCode).toBe(0);
  expect((await ctxd(["restore", folder], { dataDir: restored, env })).exitCode).toBe(0);
  const eventsIn = async (place: string) => {
    const { stdout } = await ctxd(["security", "--json"], { dataDir: place });
    return JSON.parse(stdout).map(({ event }: { event: string }) => event);
  };
  expect(await eventsIn(dataDir)).toEqual(["backup_created", "key_created"]);
  expect(await eventsIn(restored)).toEqual(["backup_restored", "key_created"]);
});
