/** What a key or a token may do. */
export const SCOPES = ["memories:read", "memories:write"] as const;
export type Scope = (typeof SCOPES)[number];

/** Scopes as one text, separated by spaces (RFC 6749, section 3.3), in the order of `SCOPES`. */
export function formatScopes(scopes: readonly Scope[]): string {
  return SCOPES.filter((scope) => scopes.includes(scope)).join(" ");
}

/** The known scopes in such a text; others grant nothing. */
export function parseScopes(text: string): Scope[] {
  const granted = text.split(" ");
  return SCOPES.filter((scope) => granted.includes(scope));
}
