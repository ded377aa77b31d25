/** Names states of bodies. */
export interface Etags {
  /**
   * Gives the function that makes the strong `ETag` of a body (RFC 9110, section 8.8.3): equal bodies
   * have equal tags.
   */
  maker(): Promise<(body: unknown) => string>;
  /** Whether an `If-Match` header (RFC 9110, section 13.1.1) lets a body with this tag pass. */
  matches(ifMatch: string, etag: string): boolean;
}

/**
 * Makes tags that confirm no guess: whoever may write and not read is told them too.
 * @param readKey a secret of the server, asked for once
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
