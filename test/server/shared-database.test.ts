import { expect, test } from "bun:test";
import { createAccounts } from "../../src/accounts/accounts.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { testPostgres, testPostgresUrl } from "../support/databases.ts";

/** Runs commands with the settings of a shared database. */
async function commandsOn(url: string) {
  const env = {
    CTXD_DATABASE_URL: url,
    CTXD_OBJECTS: "s3://memories",
    AWS_ACCESS_KEY_ID: "a",
    AWS_SECRET_ACCESS_KEY: "b",
    AWS_REGION: "us-east-1",
  };
  const dataDir = temporaryFolder();
  return async (line: string, input = "") => {
    const { stdout, stderr, exitCode } = await ctxd(line.split(" "), { dataDir, env, input });
    expect({ line, stderr, exitCode }).toMatchObject({ line, exitCode: 0 });
    return stdout;
  };
}

test("commands on accounts, keys and the security log use the shared database", async () => {
  const url = await testPostgresUrl();
  const run = await commandsOn(url);
  const parts = { db: await testPostgres(url), clock: Date.now };
  const [accounts, keys] = [createAccounts(parts), createKeys(parts)];
  await run("user add You@example.com", "a long enough password\n");
  const owner = await accounts.findByEmail("you@example.com");
  expect(owner?.role).toBe("owner");
  const key = (await run("key create --user you@example.com --name laptop")).trim();
  expect(await keys.authenticate(key)).toMatchObject({ accountId: owner?.id, name: "laptop" });
  await run("user quota you@example.com --memories 5");
  const [listed] = JSON.parse(await run("key list --json"));
  expect(listed).toMatchObject({ user: "you@example.com", name: "laptop" });
  await run(`key revoke ${listed.id}`);
  expect(await keys.authenticate(key)).toBeNull();
  expect(JSON.parse(await run("grant list --json"))).toEqual([]);
  expect(JSON.parse(await run("user list --json"))).toHaveLength(1);
  const events = JSON.parse(await run("security --json"));
  expect(events.map(({ event }: { event: string }) => event)).toEqual([
    "key_revoked",
    "quota_changed",
    "key_created",
    "owner_set_up",
  ]);
});
