/** The account of a table, a base or its folder, from the name. */
export function accountOf(name: string): string {
  return name.replace(/\..*$/s, "");
}

/** The name of an account's table for another model than that of its first table. */
export function tableFor(accountId: string, model: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(model).digest("hex");
  return `${accountId}.${hash.slice(0, 8)}`;
}

/** The folder of a base in a data folder or a backup. */
export function baseFolder(base: string): string {
  return `memories/${base}.lance`;
}

/** The manifest of a version, from which LanceDB reads the base. LanceDB counts down, so the newest sorts first. */
export function manifestFile(version: number): string {
  const name = String(2n ** 64n - 1n - BigInt(version)).padStart(20, "0");
  return `_versions/${name}.manifest`;
}

/**
 * Whether a base belongs to a table: it has the table's name, with or without a suffix.
 * @param others names of the other tables; a base with one of these names belongs to that table
 */
export function isBaseOf(base: string, table: string, others: ReadonlySet<string>): boolean {
  return base === table || (base.replace(/\.[^.]*$/, "") === table && !others.has(base));
}
