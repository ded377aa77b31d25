import type { Account } from "../accounts/accounts.ts";
import type { Keys } from "../keys/keys.ts";
import type { Grants } from "../oauth/grants.ts";

/** The source of agents on the server's machine: they use the local socket and need no key. */
export const LOCAL_SOURCE_ID = "local";
export const LOCAL_SOURCE_NAME = "Agents on this machine";

/** What may have written a memory: a key, an app, the person, or what runs on the server's machine. */
export interface Source {
  /** As a memory's `source` has it. */
  readonly id: string;
  readonly name: string;
}

export type ListSources = (account: Pick<Account, "id" | "email">) => Promise<Source[]>;

/** Makes what lists all that may have written memories of an account, also what may no longer. */
export function createListSources({
  keys,
  grants,
}: {
  keys: Pick<Keys, "list">;
  grants: Pick<Grants, "list">;
}): ListSources {
  return async ({ id, email }) => {
    const [ofKeys, ofApps] = await Promise.all([keys.list(id), grants.list(id)]);
    return [
      { id, name: `${email} (you)` },
      ...ofKeys.map((key) => ({ id: key.id, name: `${key.name} (key)` })),
      ...ofApps.map((grant) => ({ id: grant.id, name: `${grant.clientName} (app)` })),
      { id: LOCAL_SOURCE_ID, name: "Agents on the server’s machine" },
    ];
  };
}
