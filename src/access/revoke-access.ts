import type { Keys } from "../keys/keys.ts";
import type { Grants } from "../oauth/grants.ts";
import type { PendingSignIns } from "../sign-in/pending-sign-ins.ts";
import type { Sessions } from "../sign-in/sessions.ts";

/** What was ended. */
export interface Revoked {
  readonly keys: number;
  readonly apps: number;
  readonly sessions: number;
}

/**
 * Ends everything by which an account is used now: every process refuses it from its next request
 * on. Passwords, passkeys and providers stay, by which its person signs in again.
 */
export async function revokeAccess(
  accountId: string,
  {
    keys,
    grants,
    pendingSignIns,
    sessions,
  }: {
    keys: Pick<Keys, "revokeAll">;
    grants: Pick<Grants, "revokeAll">;
    pendingSignIns: Pick<PendingSignIns, "endAll">;
    sessions: Pick<Sessions, "revokeAll">;
  },
): Promise<Revoked> {
  // First what the others are made with: what begins meanwhile ends too.
  await pendingSignIns.endAll(accountId);
  const ended = await sessions.revokeAll(accountId);
  return {
    apps: await grants.revokeAll(accountId),
    keys: await keys.revokeAll(accountId),
    sessions: ended,
  };
}

/** What was ended, for a person. */
export function describeRevoked({ keys, apps, sessions }: Revoked): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  return `${count(keys, "key")} and ${count(apps, "app")} revoked, ${count(sessions, "browser")} signed out`;
}
