/** Who a provider says that a person is. */
export interface Identity {
  readonly issuer: string;
  /** The issuer's permanent id of the person. */
  readonly subject: string;
  /** An e-mail address that the provider has verified; null without one. */
  readonly email: string | null;
}

/** Secrets that are kept between the redirect to the provider and its answer. */
export interface Proofs {
  /** The code verifier of PKCE (RFC 7636). */
  readonly verifier: string;
  /** Ties the ID token to this sign-in (OpenID Connect Core 1.0, section 3.1.2.1). */
  readonly nonce: string;
}

/** A service that people sign in with. */
export interface Provider {
  readonly id: string;
  /** The name on its button. */
  readonly name: string;
  readonly issuer: string;
  /** The address that the browser is redirected to. @throws AppError `unavailable` */
  start(state: string, proofs: Proofs): Promise<URL>;
  /**
   * Redeems the provider's answer.
   * @param answer the query of the callback. The caller has checked its `state`.
   * @throws AppError `unavailable`, or `forbidden` for an ID token that is not for this sign-in
   */
  finish(answer: URLSearchParams, proofs: Proofs): Promise<Identity>;
}
