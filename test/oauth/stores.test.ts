import { describe, expect, test } from "bun:test";
import type { Bound } from "../../src/keys/reach.ts";
import { createOAuth } from "../../src/oauth/oauth.ts";
import { createOAuthTables } from "../../src/oauth/tables.ts";
import { DATABASES, type Place, storesOn } from "../support/databases.ts";
import { rejectionOf } from "../support/outcome.ts";
import { addAccount } from "../support/stores.ts";

const PUBLIC_URL = "http://localhost:7733";
const RESOURCE = `${PUBLIC_URL}/mcp`;
const REDIRECT_URI = "https://app.example.com/callback";
const VERIFIER = "v".repeat(43);
const CLIENT = { id: "client_x", name: "日本語 app", redirectUris: [REDIRECT_URI] };
const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** An account, and the stores of two servers on the same database. */
async function start(place: Place) {
  const { beside, db, clock, accounts } = await storesOn(place);
  const oauth = createOAuth({ db, clock, publicUrl: PUBLIC_URL });
  const other = createOAuth({ db: (await beside()).db, clock, publicUrl: PUBLIC_URL });
  const { id: accountId } = await addAccount(accounts);
  const challenge = new Bun.CryptoHasher("sha256").update(VERIFIER).digest("base64url");
  const consent = {
    client: CLIENT,
    redirectUri: REDIRECT_URI,
    challenge,
    scopes: ["memories:read", "memories:write"] as const,
    resource: RESOURCE,
  };
  const allow = (bound: Bound | null = null) =>
    oauth.codes.create(accountId, { ...consent, bound });
  const redeem = (code: string, store = oauth) =>
    store.codes.redeem({
      clientId: CLIENT.id,
      code,
      verifier: VERIFIER,
      redirectUri: REDIRECT_URI,
      resource: RESOURCE,
    });
  const renew = (refreshToken: string, store = oauth) =>
    store.tokens.renew({ clientId: CLIENT.id, refreshToken, scopes: null, resource: RESOURCE });
  return { db, clock, accounts, accountId, oauth, other, allow, redeem, renew };
}

const isDone = ({ status }: PromiseSettledResult<unknown>) => status === "fulfilled";

describe.each(DATABASES)("OAuth on %s:", (_, place) => {
  test("a token has the project of its grant, also when another process renews it", async () => {
    const { oauth, other, allow, redeem, renew, accountId } = await start(place);
    const bound = { project: "Öl, Atlas", only: true };
    const tokens = await redeem(await allow(bound), other);
    expect(await oauth.tokens.authenticate(tokens.access_token)).toMatchObject({ bound });
    const renewed = await renew(tokens.refresh_token, other);
    expect(await oauth.tokens.authenticate(renewed.access_token)).toMatchObject({ bound });
    const [grant] = await oauth.grants.list(accountId);
    expect(grant).toMatchObject({ project: "Öl, Atlas", projectOnly: true });
  });

  test("an earlier version of ctxd accepts no token of a bound grant", async () => {
    const { db, allow } = await start(place);
    const { oauthGrants } = db.tables(createOAuthTables);
    const kept = async () => (await db.orm.select().from(oauthGrants)).map((row) => row.resource);
    await allow({ project: "atlas", only: false });
    expect(await kept()).not.toContain(RESOURCE);
    await allow();
    expect(await kept()).toContain(RESOURCE);
  });

  test("a token authenticates its account in all processes until its grant is revoked", async () => {
    const { accountId, oauth, other, allow, redeem, clock } = await start(place);
    const tokens = await redeem(await allow());
    const [grant] = await oauth.grants.list(accountId);
    expect(grant).toMatchObject({
      accountId,
      clientId: CLIENT.id,
      clientName: CLIENT.name,
      revokedAt: null,
      scopes: ["memories:read", "memories:write"],
      createdAt: new Date(clock()),
    });
    const credential = { by: CLIENT.name, id: grant?.id ?? "" };
    expect(await other.tokens.authenticate(tokens.access_token)).toMatchObject({
      accountId,
      credential,
      scopes: ["memories:read", "memories:write"],
    });
    expect((await oauth.grants.list(accountId))[0]?.lastUsedAt).toEqual(new Date(clock()));
    for (const isPaused of [true, false]) {
      await other.grants.pause(accountId, grant?.id ?? "", isPaused);
      expect(await oauth.tokens.authenticate(tokens.access_token)).toMatchObject({ isPaused });
    }
    const { revokedAt } = await other.grants.revoke(accountId, grant?.id ?? "");
    expect(revokedAt).toEqual(new Date(clock()));
    clock.advance(MINUTE);
    expect((await oauth.grants.revokeOfAnyAccount(grant?.id ?? "")).revokedAt).toEqual(revokedAt);
    expect(await oauth.tokens.authenticate(tokens.access_token)).toBeNull();
  });

  test("if a code is redeemed several times at once, at most one redemption gives lasting tokens", async () => {
    const { accountId, oauth, other, allow, redeem } = await start(place);
    const code = await allow();
    const tries = Array.from({ length: 6 }, (_, n) => redeem(code, n % 2 ? oauth : other));
    const outcomes = await Promise.allSettled(tries);
    expect(outcomes.filter(isDone)).toHaveLength(1);
    // A code that is used twice may be stolen, so all its tokens are revoked.
    expect((await oauth.grants.list(accountId))[0]?.revokedAt).not.toBeNull();
  });

  test("if a refresh token is used several times at once, one request gets the next refresh token, the others only access tokens", async () => {
    const { oauth, other, allow, redeem, renew } = await start(place);
    const { refresh_token: first } = await redeem(await allow());
    const tries = Array.from({ length: 6 }, (_, n) => renew(first, n % 2 ? oauth : other));
    const renewed = await Promise.all(tries);
    const next = renewed.flatMap((each) => ("refresh_token" in each ? each.refresh_token : []));
    expect(next).toHaveLength(1);
    for (const { access_token } of renewed) {
      expect(await other.tokens.authenticate(access_token)).not.toBeNull();
    }
  });

  test("a refresh token that is used again later ends its grant", async () => {
    const { accountId, oauth, clock, allow, redeem, renew } = await start(place);
    const { refresh_token: first } = await redeem(await allow());
    await renew(first);
    clock.advance(2 * MINUTE);
    expect(await rejectionOf(renew(first))).toMatchObject({ code: "invalid_grant" });
    expect((await oauth.grants.list(accountId))[0]?.revokedAt).toEqual(new Date(clock()));
  });

  test("disabling an account permanently revokes its grants, and removing it deletes them", async () => {
    const { db, accounts, oauth, clock } = await start(place);
    const { id } = await addAccount(accounts, "bob@example.com");
    const scopes = ["memories:read"] as const;
    const consent = { client: CLIENT, redirectUri: REDIRECT_URI, challenge: "", scopes };
    await oauth.codes.create(id, { ...consent, resource: RESOURCE });
    await accounts.disable(id);
    await accounts.enable(id);
    const [grant] = await oauth.grants.list(id);
    expect(grant?.revokedAt).toEqual(new Date(clock()));
    expect(grant?.expiresAt).toEqual(new Date(clock() + 30 * DAY));
    await accounts.remove(id);
    const { oauthGrants, oauthCodes } = db.tables(createOAuthTables);
    expect(await db.orm.select().from(oauthGrants)).toEqual([]);
    expect(await db.orm.select().from(oauthCodes)).toEqual([]);
  });

  test("a grant that is created while its account is disabled is not valid afterwards", async () => {
    const { accounts, other, oauth, clock } = await start(place);
    const { id } = await addAccount(accounts, "bob@example.com");
    const consent = {
      client: CLIENT,
      redirectUri: REDIRECT_URI,
      challenge: "",
      resource: RESOURCE,
    };
    const scopes = ["memories:read"] as const;
    for (let round = 0; round < 10; round++) {
      const allowing = other.codes.create(id, { ...consent, scopes }).catch(() => null);
      await Promise.all([allowing, accounts.disable(id), oauth.grants.list(id)]);
      clock.advance(1);
      await accounts.enable(id);
      const held = (await oauth.grants.list(id)).filter(({ revokedAt }) => revokedAt === null);
      expect(held).toEqual([]);
    }
  });

  test("withdrawn codes are removed", async () => {
    const { accountId, oauth, allow, redeem } = await start(place);
    const code = await allow();
    await oauth.codes.withdraw(code);
    expect(await rejectionOf(redeem(code))).toMatchObject({ code: "invalid_grant" });
    expect(await oauth.grants.list(accountId)).toEqual([]);
  });

  test("clients are found as they registered, and removed if they were never used", async () => {
    const { oauth, other, clock } = await start(place);
    const metadata = { name: "x", redirectUris: [REDIRECT_URI] };
    const register = (authMethod: "none" | "client_secret_basic") =>
      oauth.clients.register({ ...metadata, authMethod });
    const open = await register("none");
    const secret = await register("client_secret_basic");
    expect(await other.clients.find(open.id)).toEqual({ id: open.id, ...metadata });
    expect(await other.clients.isAuthentic(secret.id, secret.secret)).toBe(true);
    expect(await other.clients.isAuthentic(secret.id, "another")).toBe(false);
    await oauth.clients.markUsed(secret.id);
    clock.advance(DAY);
    await register("none");
    expect(await other.clients.find(open.id)).toBeNull();
    expect(await other.clients.find(secret.id)).not.toBeNull();
  });
});
