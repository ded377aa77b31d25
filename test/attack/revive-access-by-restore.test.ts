import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { createInvitations } from "../../src/accounts/invitations.ts";
import { ON_RESTORE } from "../../src/backup/end-access.ts";
import { databasePath } from "../../src/db/data-lock.ts";
import { openSqlite } from "../../src/db/sqlite.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { createOAuth } from "../../src/oauth/oauth.ts";
import { resourceOf } from "../../src/oauth/oauth-error.ts";
import { createSessions } from "../../src/sign-in/sessions/sessions.ts";
import { ctxd } from "../support/command-line.ts";
import { testDatabase } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import { folderOfTest } from "../support/live-data.ts";
import { addAccountTo, serving } from "../support/server-process.ts";

const env = { CTXD_CACHE_DIR: testCacheDir };
const PUBLIC_URL = "https://memory.example.com";
const place = folderOfTest();
const dataDir = join(place.path, "data");
const folder = join(place.path, "backup");
afterAll(() => place[Symbol.dispose]());

/** Credentials that are valid when the backup is made, and revoked afterwards. */
let session: string;
let key: string;
let access: string;
let refresh: string;
let code: string;
let invitation: string;
const clientId = "client_x";

beforeAll(async () => {
  const account = await addAccountTo(dataDir);
  key = account.key;
  const db = openSqlite(databasePath(dataDir));
  const stores = { db, clock: Date.now };
  session = await createSessions(stores).begin(account.accountId);
  const oauth = createOAuth({ ...stores, publicUrl: PUBLIC_URL });
  const challenge = new Bun.CryptoHasher("sha256").update("v".repeat(43)).digest("base64url");
  const consent = () =>
    oauth.codes.create(account.accountId, {
      client: { id: clientId, name: "x", redirectUris: ["http://localhost/"] },
      redirectUri: "http://localhost/",
      challenge,
      scopes: SCOPES,
      resource: resourceOf(PUBLIC_URL),
    });
  const redeem = (presented: string) =>
    oauth.codes.redeem({
      clientId,
      code: presented,
      verifier: "v".repeat(43),
      redirectUri: null,
      resource: resourceOf(PUBLIC_URL),
    });
  ({ access_token: access, refresh_token: refresh } = await redeem(await consent()));
  code = await consent();
  invitation = (await createInvitations(stores).create(null)).secret;
  await db.close();
  expect(await ctxd(["backup", folder], { dataDir, env })).toMatchObject({ exitCode: 0 });
  const before = Object.values(await opens(dataDir));
  expect(before).toEqual(Array(before.length).fill(true));
}, 120_000);

async function restored(name: string, ...flags: string[]) {
  const target = join(place.path, name);
  const outcome = await ctxd(["restore", folder, ...flags], { dataDir: target, env });
  expect(outcome).toMatchObject({ stdout: "", exitCode: 0 });
  return { target, stderr: outcome.stderr };
}

/** The credentials that a server with this data folder accepts. */
async function opens(target: string) {
  const byHttp = await (async () => {
    await using server = await serving(target);
    const ask = async (headers: Record<string, string>) =>
      (await fetch(`${server.origin}/api/memories`, { headers })).status === 200;
    const cookie = `ctxd-session=${session}`;
    return {
      key: await ask({ authorization: `Bearer ${key}` }),
      session: await ask({ cookie, "sec-fetch-site": "same-origin" }),
    };
  })();
  const db = openSqlite(databasePath(target));
  const { tokens, codes } = createOAuth({ db, clock: Date.now, publicUrl: PUBLIC_URL });
  const gives = async (work: () => Promise<unknown>) => {
    try {
      return (await work()) !== null;
    } catch {
      return false;
    }
  };
  const resource = resourceOf(PUBLIC_URL);
  const verifier = "v".repeat(43);
  const found = {
    ...byHttp,
    access: await gives(() => tokens.authenticate(access)),
    refresh: await gives(() =>
      tokens.renew({ clientId, refreshToken: refresh, scopes: null, resource }),
    ),
    code: await gives(() =>
      codes.redeem({ clientId, code, verifier, redirectUri: null, resource }),
    ),
    invitation: await gives(() => createInvitations({ db, clock: Date.now }).find(invitation)),
  };
  await db.close();
  return found;
}

test("a thief's session, tokens, code and invitation are not revived by a restore", async () => {
  const { target, stderr } = await restored("plain");
  const nothing = { session: false, access: false, refresh: false, code: false, invitation: false };
  expect(await opens(target)).toEqual({ key: true, ...nothing });
  const { sqlite } = openSqlite(databasePath(target));
  for (const [table, fate] of Object.entries(ON_RESTORE)) {
    if (fate !== "ends") continue;
    const rows = sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}`).get();
    expect({ table, rows: rows?.n }).toEqual({ table, rows: 0 });
  }
  sqlite.close();
  expect(stderr).toContain("Ended: 1 session, the tokens of 1 app, 1 invitation.");
  expect(stderr).toContain("1 API key is valid again, even if revoked later");
  expect(stderr).toContain("--revoke-keys");
});

test("with --revoke-keys a restore revives no key and no app either", async () => {
  const { target, stderr } = await restored("revoked", "--revoke-keys");
  expect(Object.values(await opens(target)).some(Boolean)).toBe(false);
  expect(stderr).toContain("1 API key.");
  const db = openSqlite(databasePath(target));
  const keys = await createKeys({ db, clock: Date.now }).listOfAllAccounts();
  expect(keys.map(({ revokedAt }) => revokedAt === null)).toEqual([false]);
  const grants = createOAuth({ db, clock: Date.now, publicUrl: PUBLIC_URL }).grants;
  expect((await grants.listOfAllAccounts()).every(({ revokedAt }) => revokedAt !== null)).toBe(
    true,
  );
  await db.close();
});

test("every database table is either kept or cleared by a restore", () => {
  const { sqlite } = testDatabase();
  const tables = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'",
    )
    .all()
    .map(({ name }) => name);
  expect(Object.keys(ON_RESTORE).sort()).toEqual(tables.sort());
});
