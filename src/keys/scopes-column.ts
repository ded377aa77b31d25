import type { Dialect } from "../db/database.ts";
import { formatScopes, parseScopes, type Scope } from "./scopes.ts";

/** A column of scopes, stored as one text. */
export const scopesColumn = (dialect: Dialect, name: string) =>
  dialect.formed<readonly Scope[]>(name, { toDriver: formatScopes, fromDriver: parseScopes });
