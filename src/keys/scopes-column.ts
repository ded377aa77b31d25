import { customType } from "drizzle-orm/sqlite-core";
import { formatScopes, parseScopes, type Scope } from "./scopes.ts";

/** A column of scopes, kept as one text. */
export const scopesColumn = customType<{ data: readonly Scope[]; driverData: string }>({
  dataType: () => "text",
  toDriver: formatScopes,
  fromDriver: parseScopes,
});
