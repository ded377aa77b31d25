/** A project that a key, an app or an agent is bound to. */
export interface Bound {
  readonly project: string;
  /** Whether not even the memories of no project are reached. */
  readonly only: boolean;
}

/** What a request shows who it is from, as the server knows it. */
export interface Credential {
  /** Name of the key or app, or a person's e-mail address. */
  readonly by: string;
  /** Id of the key or grant, or of a person's account. */
  readonly id: string;
}

/** Which memories somebody may reach: those of an account, or what a project in it leaves of them. */
export interface Reach {
  readonly accountId: string;
  /** `null` where all of the account is reached. */
  readonly bound: Bound | null;
  /** Who that is; the account's own person where it is not said. */
  readonly credential?: Credential;
  /** The agent that asks, as it calls itself, where that is known. */
  readonly agentId?: string | null;
}

/** All memories of an account. */
export function wholeAccount(accountId: string): Reach {
  return { accountId, bound: null };
}
