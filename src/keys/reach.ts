/** A project that a key, an app or an agent is bound to. */
export interface Bound {
  readonly project: string;
  /** Whether the memories without a project are excluded too. */
  readonly only: boolean;
}

/** Who sent a request, as the server knows it. */
export interface Credential {
  /** The name of the key or app, or a person's e-mail address. */
  readonly by: string;
  /** The id of the key, of the grant, or of a person's account. */
  readonly id: string;
}

/** The memories that a caller may read and write: those of an account, or of one project in it. */
export interface Reach {
  readonly accountId: string;
  /** Null if the whole account is reached. */
  readonly bound: Bound | null;
  /** The caller; by default the account's own person. */
  readonly credential?: Credential;
  /** The name that the calling agent gives itself; null if unknown. */
  readonly agentId?: string | null;
  /** Aborted when the client has gone, if its request is given up then. */
  readonly signal?: AbortSignal;
}

/** All memories of an account. */
export function wholeAccount(accountId: string): Reach {
  return { accountId, bound: null };
}
