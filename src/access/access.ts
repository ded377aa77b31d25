import { createAccounts } from "../accounts/accounts.ts";
import { createInvitations } from "../accounts/invitations.ts";
import { createQuotas } from "../accounts/quotas.ts";
import type { Config } from "../config/config.ts";
import { createEphemeral } from "../db/create-ephemeral.ts";
import type { Database } from "../db/database.ts";
import { createEtags } from "../http/etag.ts";
import type { FetchDocument } from "../oauth/document-fetcher.ts";
import { createOAuth } from "../oauth/oauth.ts";
import { createDevices } from "../sign-in/devices.ts";
import { createFactors } from "../sign-in/factors.ts";
import { createIdentities } from "../sign-in/identities.ts";
import { createPasskeyChallenges } from "../sign-in/passkey-challenges.ts";
import { createPendingSignIns } from "../sign-in/pending-sign-ins.ts";
import { readServerSecret } from "../sign-in/server-secret.ts";
import { createSessions } from "../sign-in/sessions.ts";
import { createSetUpToken } from "../sign-in/set-up-token.ts";
import { createRemoveSignInMethod } from "../sign-in/sign-in-methods.ts";

/** The stores for accounts, sign-in, keys and grants. */
export type Access = ReturnType<typeof createAccess>;

/** Creates the stores. `clock` gives milliseconds since 1970. */
export function createAccess({
  db,
  clock,
  publicUrl,
  setUpToken,
  fetchDocument,
  memberQuota = null,
}: {
  db: Database;
  clock: () => number;
  publicUrl: string;
  /** See `createSetUpToken`; a secret of this start by default. */
  setUpToken?: string | undefined;
  /** Reads the metadata documents of clients; by default over the network. */
  fetchDocument?: FetchDocument | undefined;
  /** The quota of members without one of their own. */
  memberQuota?: Config["memberQuota"];
}) {
  const accounts = createAccounts({ db, clock });
  const ephemeral = createEphemeral({ db, clock });
  const identities = createIdentities({ db, clock });
  const factors = createFactors({ db, clock, ephemeral });
  return {
    accounts,
    quotas: createQuotas({ db, ofMembers: memberQuota }),
    devices: createDevices({ db, accounts, clock }),
    invitations: createInvitations({ db, clock }),
    setUpToken: createSetUpToken(db, setUpToken),
    sessions: createSessions({ db, clock }),
    identities,
    factors,
    removeSignInMethod: createRemoveSignInMethod({ db, accounts, identities, factors }),
    pendingSignIns: createPendingSignIns({ db, clock }),
    passkeyChallenges: createPasskeyChallenges({ db, clock }),
    oauth: createOAuth({ db, clock, publicUrl, ephemeral, fetchDocument }),
    ephemeral,
    etags: createEtags(() => readServerSecret(db, "etags")),
    clock,
  };
}
