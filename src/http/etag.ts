/** Creates and compares `ETag` values. */
export interface Etags {
  /**
   * Returns a function that computes the strong `ETag` of a body (RFC 9110, section 8.8.3): equal
   * bodies have equal tags.
   */
  maker(): Promise<(body: unknown) => string>;
  /** Whether an `If-Match` header (RFC 9110, section 13.1.1) accepts this tag. */
  matches(ifMatch: string, etag: string): boolean;
}

/**
 * Creates tags that do not help to guess a body: callers that may only write receive them too.
 * @param readKey a secret of the server, read once
 */
export function createEtags(readKey: () => Promise<string>): Etags {
  let make: ((body: unknown) => string) | undefined;
  return {
    async maker() {
      if (make) return make;
      const key = await readKey();
      make = (body) => {
        const hasher = new Bun.CryptoHasher("sha256", key).update(JSON.stringify(body));
        return `"${hasher.digest("base64url").slice(0, 22)}"`;
      };
      return make;
    },
    matches: (ifMatch, etag) =>
      ifMatch.split(",").some((candidate) => ["*", etag].includes(candidate.trim())),
  };
}
