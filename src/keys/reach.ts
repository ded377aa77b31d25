/** A project that a key, an app or an agent is bound to. */
export interface Bound {
  readonly project: string;
  /** Whether not even the memories of no project are reached. */
  readonly only: boolean;
}

/** Which memories somebody may reach: those of an account, or what a project in it leaves of them. */
export interface Reach {
  readonly accountId: string;
  /** `null` where all of the account is reached. */
  readonly bound: Bound | null;
}

/** All memories of an account. */
export function wholeAccount(accountId: string): Reach {
  return { accountId, bound: null };
}
