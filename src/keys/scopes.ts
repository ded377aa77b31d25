/** What a key or a token may do: read; save, change and delete; or save alone. */
export const SCOPES = ["memories:read", "memories:write", "memories:add"] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes that together allow everything. */
export const FULL_ACCESS: readonly Scope[] = ["memories:read", "memories:write"];

/** What else a scope allows. */
const IMPLIED: Partial<Record<Scope, Scope>> = { "memories:write": "memories:add" };

/** Whether scopes allow what needs this one. */
export function allows(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.some((scope) => scope === needed || IMPLIED[scope] === needed);
}

/**
 * Scopes as one text, separated by spaces (RFC 6749, section 3.3), in the order of `SCOPES`, without
 * those that another one implies.
 */
export function formatScopes(scopes: readonly Scope[]): string {
  return distinct(scopes).join(" ");
}

/** The known scopes in such a text, as few as say it; others grant nothing. */
export function parseScopes(text: string): Scope[] {
  const granted = text.split(" ");
  return distinct(SCOPES.filter((scope) => granted.includes(scope)));
}

/** Scopes for people: `read, write`. */
export function describeScopes(scopes: readonly Scope[]): string {
  return distinct(scopes)
    .map((scope) => scope.replace("memories:", ""))
    .join(", ");
}

function distinct(scopes: readonly Scope[]): Scope[] {
  const implied = scopes.map((scope) => IMPLIED[scope]);
  return SCOPES.filter((scope) => scopes.includes(scope) && !implied.includes(scope));
}
