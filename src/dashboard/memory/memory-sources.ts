import type { Account } from "../../accounts/account.ts";
import type { Keys } from "../../keys/keys.ts";
import type { Grants } from "../../oauth/grants.ts";

/** The source of agents on the server's machine: they use the local socket and need no key. */
export const LOCAL_SOURCE_ID = "local";
export const LOCAL_SOURCE_NAME = "Agents on this machine";

/** A possible author of memories: a key, an app, the person, or the agents on the server's machine. */
export interface Source {
  /** The id in a memory's `source`. */
  readonly id: string;
  readonly name: string;
}

export type ListSources = (account: Pick<Account, "id" | "email">) => Promise<Source[]>;

/** Makes a function that lists the sources of an account, including revoked keys and disconnected apps. */
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
