import type { Dialect } from "../db/database.ts";

/** The rights of a key or token: read; save, change and delete; or only save. */
export const SCOPES = ["memories:read", "memories:write", "memories:add"] as const;
export type Scope = (typeof SCOPES)[number];

/** The scopes that together allow everything. */
export const FULL_ACCESS: readonly Scope[] = ["memories:read", "memories:write"];

const IMPLIED: Partial<Record<Scope, Scope>> = { "memories:write": "memories:add" };

/** Whether scopes include the needed one. */
export function allows(scopes: readonly Scope[], needed: Scope): boolean {
  return scopes.some((scope) => scope === needed || IMPLIED[scope] === needed);
}

/**
 * Scopes as one text, separated by spaces (RFC 6749, section 3.3), in the order of `SCOPES`, without
 * scopes that another one includes.
 */
export function formatScopes(scopes: readonly Scope[]): string {
  return distinct(scopes).join(" ");
}

/** The known scopes of such a text, without those that another one includes. Unknown scopes grant nothing. */
export function parseScopes(text: string): Scope[] {
  const granted = text.split(" ");
  return distinct(SCOPES.filter((scope) => granted.includes(scope)));
}

/** Describes scopes to people: `read, write`. */
export function describeScopes(scopes: readonly Scope[]): string {
  return distinct(scopes)
    .map((scope) => scope.replace("memories:", ""))
    .join(", ");
}

function distinct(scopes: readonly Scope[]): Scope[] {
  const implied = scopes.map((scope) => IMPLIED[scope]);
  return SCOPES.filter((scope) => scopes.includes(scope) && !implied.includes(scope));
}

/** A column of scopes, stored as one text. */
export const scopesColumn = (dialect: Dialect, name: string) =>
  dialect.converted<readonly Scope[]>(name, { toDriver: formatScopes, fromDriver: parseScopes });

/** The header by which a request names a space, or `personal`, percent-encoded. */
export const SPACE_HEADER = "ctxd-space";
