/** The account that a table or a base belongs to, by its name or that of its folder. */
export function accountOf(name: string): string {
  return name.replace(/\..*$/s, "");
}

/** The name of an account's table for a model that is not the one of its first table. */
export function nextTable(accountId: string, model: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(model).digest("hex");
  return `${accountId}.${hash.slice(0, 8)}`;
}

/**
 * Whether a base is one of a table's: it has the table's name, or that and a suffix.
 * @param others names of other tables, whose bases may have their names
 */
export function isBaseOf(base: string, table: string, others: ReadonlySet<string>): boolean {
  return base === table || (base.replace(/\.[^.]*$/, "") === table && !others.has(base));
}
