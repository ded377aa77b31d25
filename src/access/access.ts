import { createAccounts } from "../accounts/accounts.ts";
import { createInvitations } from "../accounts/invitations.ts";
import { createQuotas } from "../accounts/quotas.ts";
import { createSpaceInvitations } from "../accounts/space-invitations.ts";
import { createSpaces } from "../accounts/spaces.ts";
import type { Config } from "../config/config.ts";
import type { StoreParts } from "../db/database.ts";
import { createEphemeral } from "../db/ephemeral.ts";
import { createEtags } from "../http/responses.ts";
import type { FetchDocument } from "../oauth/clients/document-fetcher.ts";
import { createOAuth } from "../oauth/oauth.ts";
import { createPasskeyChallenges } from "../sign-in/passkeys/passkeys.ts";
import { createIdentities } from "../sign-in/providers/provider-sign-in.ts";
import { createFactors } from "../sign-in/second-step/factors.ts";
import { createPendingSignIns } from "../sign-in/second-step/second-step.ts";
import { createDevices, readServerSecret } from "../sign-in/sessions/devices.ts";
import { createSessions } from "../sign-in/sessions/sessions.ts";
import { createRemoveSignInMethod } from "../sign-in/sign-in-methods.ts";
import { createSetUpToken } from "../sign-in/sign-up/sign-up.ts";

/** The stores for accounts, sign-in, keys and grants. */
export type Access = ReturnType<typeof createAccess>;

/** Creates the stores. */
export function createAccess({
  db,
  clock,
  publicUrl,
  setUpToken,
  fetchDocument,
  memberQuota = null,
}: StoreParts & {
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
    spaces: createSpaces({ db, clock }),
    spaceInvitations: createSpaceInvitations({ db, clock }),
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
