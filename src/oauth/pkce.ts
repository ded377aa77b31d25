import { isSameSecret } from "../db/secret.ts";

/** RFC 7636, section 4.2: a SHA-256 in base64url without padding. */
const CHALLENGE = /^[\w-]{43}$/;
/** RFC 7636, section 4.1. */
const VERIFIER = /^[\w.~-]{43,128}$/;

export function isChallenge(text: string): boolean {
  return CHALLENGE.test(text);
}

/** Whether a verifier belongs to an S256 challenge (RFC 7636, section 4.6). */
export function matchesChallenge(verifier: string, challenge: string): boolean {
  if (!VERIFIER.test(verifier)) return false;
  const made = new Bun.CryptoHasher("sha256").update(verifier).digest("base64url");
  return isSameSecret(made, challenge);
}
