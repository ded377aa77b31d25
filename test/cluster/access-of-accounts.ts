import { createAccounts } from "../../src/accounts/accounts.ts";
import { createQuotas } from "../../src/accounts/quotas.ts";
import type { Database } from "../../src/db/database.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { SCOPES } from "../../src/keys/scopes.ts";
import { createGrants } from "../../src/oauth/grants.ts";
import { createOAuth } from "../../src/oauth/oauth.ts";
import { resourceOf } from "../../src/oauth/oauth-error.ts";

/** Lets a person allow an app's request, and closes the database. */
export async function allowApp(db: Database, accountId: string) {
  const publicUrl = "https://memory.example.com";
  const resource = resourceOf(publicUrl);
  const { codes } = createOAuth({ db, clock: Date.now, publicUrl });
  const code = await codes.create(accountId, {
    client: { id: "client_x", name: "the app", redirectUris: ["http://localhost/"] },
    redirectUri: "http://localhost/",
    challenge: new Bun.CryptoHasher("sha256").update("v".repeat(43)).digest("base64url"),
    scopes: SCOPES,
    resource,
  });
  const [clientId, verifier] = ["client_x", "v".repeat(43)];
  await codes.redeem({ clientId, code, verifier, redirectUri: null, resource });
  await db.close();
}

/** The permissions of all credentials on a server, whose database it closes. */
export async function accessOf(db: Database) {
  const stores = { db, clock: Date.now };
  try {
    const { id, ...owner } = (await createAccounts(stores).findOwner()) ?? {};
    return {
      id,
      owner,
      keys: (await createKeys(stores).listOfAllAccounts()).map(withoutUse),
      grants: (await createGrants(stores).listOfAllAccounts()).map(withoutUse),
      quota: await createQuotas({ db, ofMembers: null }).of(id ?? ""),
    };
  } finally {
    await db.close();
  }
}

const withoutUse = <Access extends { lastUsedAt: unknown }>({ lastUsedAt: _, ...rest }: Access) =>
  rest;
