import { expect, test } from "bun:test";
import { createSpaces } from "../../src/accounts/spaces.ts";
import { createOAuth } from "../../src/oauth/oauth.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { addAccount, testStores } from "../support/stores.ts";

const publicUrl = "http://localhost:7733";
const VERIFIER = "v".repeat(43);

/** An account with a grant for an app, and the app's access token. @param isInSpace whether it is bound to the space acme */
async function withGrant(isInSpace = false) {
  const dataDir = temporaryFolder();
  const { db, accounts } = testStores(dataDir);
  // The command line always uses the clock of the system.
  const oauth = createOAuth({ db, clock: Date.now, publicUrl });
  const account = await addAccount(accounts, "you@example.com");
  const resource = `${publicUrl}/mcp`;
  const client = { id: "client_x", name: "日本語 app", redirectUris: [] };
  const redirectUri = "https://app.example.com/callback";
  const challenge = new Bun.CryptoHasher("sha256").update(VERIFIER).digest("base64url");
  const scopes = ["memories:read"] as const;
  const bound = { project: "acme/shop", only: true };
  const space = isInSpace
    ? await createSpaces({ db, clock: Date.now }).create(account.id, "acme")
    : null;
  const code = await oauth.codes.create(account.id, {
    client,
    redirectUri,
    challenge,
    scopes,
    bound,
    resource,
    spaceId: space?.id ?? null,
  });
  const { access_token: token } = await oauth.codes.redeem({
    clientId: client.id,
    code,
    verifier: VERIFIER,
    redirectUri,
    resource,
  });
  const [grant] = await oauth.grants.list(account.id);
  return { dataDir, oauth, account, accounts, token, id: grant?.id ?? "" };
}

test("grant list shows the app, the scopes and the account of each grant", async () => {
  const { dataDir, id, account, accounts, token } = await withGrant();
  const { stdout, stderr, exitCode } = await ctxd(["grant", "list"], { dataDir });
  expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
  expect(stdout.split("\n")[1]).toMatch(
    /^grant_\w{32} {2}日本語 app {2}app\.example\.com {2}you@example\.com {2}read {3}acme\/shop only {2}- {10}expires \d{4}/,
  );
  expect(stdout).not.toContain(token);

  const json = await ctxd(["grant", "list", "--json", "--user", "You@example.com"], { dataDir });
  expect(JSON.parse(json.stdout)).toEqual([
    {
      user: "you@example.com",
      id,
      account_id: account.id,
      client_id: "client_x",
      client_name: "日本語 app",
      redirect_host: "app.example.com",
      scopes: ["memories:read"],
      project: "acme/shop",
      project_only: true,
      space: null,
      space_id: null,
      created_at: expect.any(String),
      last_used_at: null,
      expires_at: expect.any(String),
      revoked_at: null,
      paused_at: null,
    },
  ]);
  await addAccount(accounts, "other@example.com");
  const none = await ctxd(["grant", "list", "--json", "--user", "other@example.com"], { dataDir });
  expect(JSON.parse(none.stdout)).toEqual([]);
});

test("grant list shows the space that an app is bound to", async () => {
  const { dataDir } = await withGrant(true);
  const { stdout } = await ctxd(["grant", "list"], { dataDir });
  expect(stdout).toMatch(/PROJECT +SPACE {2}.*\n.* {2}acme\/shop only {2}acme {3}/);
  const json = await ctxd(["grant", "list", "--json"], { dataDir });
  expect(JSON.parse(json.stdout)).toMatchObject([
    { space: "acme", space_id: expect.stringMatching(/^acc_/) },
  ]);
});

test("grant revoke ends a grant, also on a running server, and reports one that has ended", async () => {
  const { dataDir, id, oauth, token } = await withGrant();
  const bound = { project: "acme/shop", only: true };
  expect(await oauth.tokens.authenticate(token)).toMatchObject({ bound });
  const revoked = await ctxd(["grant", "revoke", id], { dataDir });
  expect(revoked).toEqual({
    stdout: "",
    stderr: `Revoked ${id} (日本語 app).\n`,
    exitCode: 0,
  });
  expect(await oauth.tokens.authenticate(token)).toBeNull();
  const again = await ctxd(["grant", "revoke", id], { dataDir });
  expect(again.stderr).toContain("revoked already");
  const json = await ctxd(["grant", "revoke", id, "--json"], { dataDir });
  expect(JSON.parse(json.stdout)).toMatchObject({ id, revoked_at: expect.any(String) });
  const { stdout } = await ctxd(["grant", "list"], { dataDir });
  expect(stdout).toContain("revoked 2");
});

test("an unknown grant is reported", async () => {
  const { dataDir } = await withGrant();
  const refused = await ctxd(["grant", "revoke", "grant_unknown"], { dataDir });
  expect(refused).toMatchObject({ stdout: "", exitCode: 1 });
  expect(refused.stderr).toContain("ctxd grant list");
});

test("without a grant the list is empty", async () => {
  const none = await ctxd(["grant", "list"], { dataDir: temporaryFolder() });
  expect(none).toMatchObject({ stdout: "", exitCode: 0 });
  expect(none.stderr).toContain("No grants yet");
});
