/** The strong `ETag` of a body (RFC 9110, section 8.8.3): equal bodies have equal tags. */
export function etagOf(body: unknown): string {
  return `"${Bun.hash.xxHash64(JSON.stringify(body)).toString(36)}"`;
}

/** Whether an `If-Match` header (RFC 9110, section 13.1.1) lets a body with this tag pass. */
export function matchesEtag(ifMatch: string, etag: string): boolean {
  return ifMatch.split(",").some((candidate) => ["*", etag].includes(candidate.trim()));
}
