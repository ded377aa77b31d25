import type { Keys } from "../keys/keys.ts";
import type { Grants } from "../oauth/grants.ts";
import type { PendingSignIns } from "../sign-in/second-step/second-step.ts";
import type { Sessions } from "../sign-in/sessions/sessions.ts";
import { createPause } from "../timing/pause.ts";

/**
 * Revokes all keys, apps and sessions of an account. Every process refuses them from its next request
 * on. Passwords, passkeys and providers stay, so that the person can sign in again.
 * @returns how many were revoked
 */
export async function revokeAccess(
  accountId: string,
  stores: {
    keys: Pick<Keys, "revokeAll">;
    grants: Pick<Grants, "revokeAll">;
    pendingSignIns: Pick<PendingSignIns, "endAll">;
    sessions: Pick<Sessions, "revokeAll">;
  },
) {
  const pause = createPause();
  // Sessions first, since they create the others: nothing new can begin in the meantime.
  await stores.pendingSignIns.endAll(accountId);
  const sessions = await stores.sessions.revokeAll(accountId);
  await pause();
  const apps = await stores.grants.revokeAll(accountId);
  await pause();
  const keys = await stores.keys.revokeAll(accountId);
  return { keys, apps, sessions };
}

/** Describes the result to a person. */
export function describeRevoked({
  keys,
  apps,
  sessions,
}: Awaited<ReturnType<typeof revokeAccess>>): string {
  const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? "" : "s"}`;
  return `${count(keys, "key")} and ${count(apps, "app")} revoked, ${count(sessions, "browser")} signed out`;
}
