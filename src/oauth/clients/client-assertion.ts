import type { JSONWebKeySet } from "jose";
import { LRUCache } from "lru-cache";
import type { Ephemeral } from "../../db/ephemeral.ts";
import { isObject } from "../../text/parse-json.ts";
import { OAuthError } from "../oauth-error.ts";
import type { Client } from "./client.ts";
import type { FetchDocument } from "./document-fetcher.ts";

/** The type of signed assertions (RFC 7523, section 2.2). */
export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** Signatures by a private key. With other algorithms, the public key would be the secret. */
export const ASSERTION_ALGORITHMS = ["RS256", "PS256", "ES256", "EdDSA"] as const;

/** Milliseconds for which a client's keys are kept, and until they may be fetched again. */
const KEYS_AGE = 3_600_000;
const LEAST_AGE = 60_000;
/** Seconds by which clocks may differ, and in which an assertion must expire. */
const CLOCK_TOLERANCE = 60;
const MAX_LIFETIME = 3_600;

/** @throws OAuthError `invalid_client`, or `temporarily_unavailable` when the keys can't be fetched */
type VerifyAssertion = (client: Client, assertion: string) => Promise<void>;

/**
 * Creates the check of a client's signed assertion (private_key_jwt: RFC 7523, section 3). The client
 * must have signed it with its own key, for this server, recently, and must not have used it before.
 * @param audiences accepted audiences: the issuer and its token endpoint
 * @param clock milliseconds since 1970
 */
export function createVerifyAssertion({
  fetchDocument,
  audiences,
  ephemeral,
  clock,
}: {
  fetchDocument: FetchDocument;
  /** Remembers used assertions. */
  ephemeral: Pick<Ephemeral, "add">;
  audiences: readonly string[];
  clock: () => number;
}): VerifyAssertion {
  const known = new LRUCache<string, { at: number; keys: Promise<JSONWebKeySet> }>({ max: 100 });

  const keysAt = (address: string, maxAge: number): Promise<JSONWebKeySet> => {
    const cached = known.get(address);
    if (cached && clock() - cached.at < maxAge) return cached.keys;
    const keys = readKeys(address, fetchDocument);
    const entry = { at: clock(), keys };
    known.set(address, entry);
    keys.catch(() => {
      if (known.peek(address) === entry) known.delete(address);
    });
    return keys;
  };

  return async ({ id, keys }, assertion) => {
    if (!keys) throw refused("is not what this client authenticates by");
    const { createLocalJWKSet, errors, jwtVerify } = await import("jose");
    const verify = async (set: JSONWebKeySet) =>
      (
        await jwtVerify(assertion, createLocalJWKSet(set), {
          algorithms: [...ASSERTION_ALGORITHMS],
          issuer: id,
          subject: id,
          audience: [...audiences],
          requiredClaims: ["exp"],
          clockTolerance: CLOCK_TOLERANCE,
          currentDate: new Date(clock()),
        })
      ).payload;
    const { source } = keys;
    const get = (maxAge: number) =>
      typeof source === "string" ? keysAt(source, maxAge) : Promise.resolve(source);
    const payload = await get(KEYS_AGE)
      .then(verify)
      .catch(async (error) => {
        // Clients change their keys: the unknown key may be new.
        if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
        return verify(await get(LEAST_AGE));
      })
      .catch((cause) => {
        if (cause instanceof OAuthError) throw cause;
        throw refused("is not signed by this client, not for this server, or expired");
      });
    const { exp = 0, jti } = payload;
    if (exp * 1000 > clock() + MAX_LIFETIME * 1000) throw refused("is valid for too long");
    if (jti === undefined) return;
    const use = JSON.stringify([id, jti]);
    const isNew = await ephemeral.add(`assertion ${use}`, (MAX_LIFETIME + CLOCK_TOLERANCE) * 1000);
    if (!isNew) throw refused("has been used before");
  };
}

/** The client id in an assertion, not verified; null without one. */
export async function subjectOf(assertion: string): Promise<string | null> {
  const { decodeJwt } = await import("jose");
  try {
    return decodeJwt(assertion).sub ?? null;
  } catch {
    return null;
  }
}

async function readKeys(address: string, fetchDocument: FetchDocument): Promise<JSONWebKeySet> {
  const { json } = await fetchDocument(new URL(address)).catch(() => {
    throw new OAuthError("temporarily_unavailable", "The client's keys can't be fetched.", 503);
  });
  const keys = toKeys(json);
  if (keys) return keys;
  throw refused("can't be checked: the client's jwks_uri holds no keys");
}

/** A JSON Web Key Set (RFC 7517, section 5); null for anything else. */
export function toKeys(json: unknown): JSONWebKeySet | null {
  const { keys } = Object(json);
  return Array.isArray(keys) && keys.length > 0 && keys.every(isObject) ? { keys } : null;
}

function refused(problem: string): OAuthError {
  return new OAuthError("invalid_client", `The client assertion ${problem}.`);
}
