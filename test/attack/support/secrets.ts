import { createAccess } from "../../../src/access/access.ts";
import { createShownOnce } from "../../../src/dashboard/session.ts";
import { createSecret } from "../../../src/db/id.ts";
import { createKeys } from "../../../src/keys/keys.ts";
import { SCOPES } from "../../../src/keys/scopes.ts";
import { codeOf, stepAt } from "../../../src/sign-in/second-step/one-time-codes.ts";
import type { Cluster } from "../../support/cluster.ts";
import { openPostgres } from "../../support/open-postgres.ts";

export type Secrets = Awaited<ReturnType<typeof createSecrets>>;

const REDIRECT_URI = "https://app.example.com/callback";

/** Makes one of each secret that a cluster has, and returns those that nobody may read. */
export async function createSecrets(cluster: Pick<Cluster, "database" | "replicas">) {
  const db = await openPostgres(cluster.database.url, { migrates: false, sessions: 2 });
  const origin = (cluster.replicas[0]?.origin() ?? "").replace("127.0.0.1", "localhost");
  try {
    const access = createAccess({ db, clock: Date.now, publicUrl: origin });
    const password = "violet anchor marble";
    const { id } = await access.accounts.add({ email: "reader@example.com", password });
    const keys = createKeys({ db, clock: Date.now });
    const { key } = await keys.create(id, { name: "laptop", scopes: SCOPES, expiresAt: null });
    const idempotencyKey = createSecret("");
    await fetch(`${origin}/api/memories`, {
      method: "POST",
      headers: {
        ...{ authorization: `Bearer ${key}`, "content-type": "application/json" },
        "idempotency-key": idempotencyKey,
      },
      body: JSON.stringify({ content: "Ana keeps bees" }),
    });
    const session = await access.sessions.begin(id, "Firefox");
    const shown = createSecret("ctx_");
    await createShownOnce(access).put(session, "some-key", shown);
    const [state, verifierOfProvider] = [createSecret(""), createSecret("")];
    await access.ephemeral.put(`sign-in with a provider ${state}`, verifierOfProvider, 60_000);
    await access.devices.remember(id, null);
    const { secret: invitation } = await access.invitations.create(null);
    const space = await access.spaces.create(id, "acme");
    const wanted = { email: null, role: "read" } as const;
    const made = await access.spaceInvitations.create(id, space.id, wanted);
    return {
      ...{ password, key, idempotencyKey, session, shown, state, verifierOfProvider, invitation },
      invitationIntoSpace: made.secret,
      ...(await createOAuthSecrets(access, id, origin)),
      ...(await createFactorSecrets(access, id)),
    };
  } finally {
    await db.close();
  }
}

type Access = ReturnType<typeof createAccess>;

async function createOAuthSecrets({ oauth }: Access, accountId: string, origin: string) {
  const metadata = { name: "Example", redirectUris: [REDIRECT_URI] };
  const registered = await oauth.clients.register({
    ...metadata,
    authMethod: "client_secret_post",
  });
  const client = await oauth.clients.find(registered.id);
  if (!client || registered.secret === null) throw new Error("no client");
  const verifier = createSecret("");
  const challenge = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
  const resource = `${origin}/mcp`;
  const consent = { client, redirectUri: REDIRECT_URI, challenge, scopes: SCOPES, resource };
  const redeemed = await oauth.codes.create(accountId, consent);
  const tokens = await oauth.codes.redeem({
    ...{ clientId: client.id, code: redeemed, verifier, redirectUri: REDIRECT_URI, resource },
  });
  const renewed = await oauth.tokens.renew({
    ...{ clientId: client.id, refreshToken: tokens.refresh_token, scopes: null, resource },
  });
  return {
    clientSecret: registered.secret,
    verifier,
    code: await oauth.codes.create(accountId, consent),
    accessToken: renewed.access_token,
    formerRefreshToken: tokens.refresh_token,
  };
}

async function createFactorSecrets(access: Access, accountId: string) {
  const { oneTimeCodes, recoveryCodes, passkeys } = access.factors;
  await oneTimeCodes.begin(accountId);
  const secret = await oneTimeCodes.findUnconfirmed(accountId);
  if (!secret) throw new Error("no secret of codes");
  await oneTimeCodes.confirm(accountId, codeOf(secret, stepAt(Date.now())));
  await passkeys.add(accountId, {
    ...{ id: "a", publicKey: new Uint8Array([1, 2, 3]), counter: 0, transports: ["internal"] },
    name: "Laptop",
  });
  const visit = createSecret("");
  await access.passkeyChallenges.create(visit, "sign-in");
  const [recoveryCode = ""] = await recoveryCodes.replace(accountId);
  const pending = await access.pendingSignIns.begin(accountId, null);
  return { recoveryCode, visit, pending };
}
