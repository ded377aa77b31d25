/** An account without its secrets. */
export interface Account {
  readonly id: string;
  readonly email: string;
  readonly role: "owner" | "member";
  readonly createdAt: Date;
  /** Since when nobody can use it; null for an account that can be used. */
  readonly disabledAt: Date | null;
}

/** What a new account is made of; `password: null` makes one that can't sign in with a password. */
export interface NewAccount {
  readonly email: string;
  readonly password: string | null;
}
