/** The account that a table, a base or its folder belongs to, by its name. */
export function accountOf(name: string): string {
  return name.replace(/\..*$/s, "");
}

/** The name of an account's table for a model that is not the one of its first table. */
export function tableFor(accountId: string, model: string): string {
  const hash = new Bun.CryptoHasher("sha256").update(model).digest("hex");
  return `${accountId}.${hash.slice(0, 8)}`;
}

/** The folder of a base in a data folder or a backup. */
export function baseFolder(base: string): string {
  return `memories/${base}.lance`;
}

/** The file that a version of a base begins with: LanceDB counts down, so the newest sorts first. */
export function manifestFile(version: number): string {
  const name = String(2n ** 64n - 1n - BigInt(version)).padStart(20, "0");
  return `_versions/${name}.manifest`;
}

/**
 * Whether a base is one of a table's: it has the table's name, or that and a suffix.
 * @param others names of other tables, whose bases may have their names
 */
export function isBaseOf(base: string, table: string, others: ReadonlySet<string>): boolean {
  return base === table || (base.replace(/\.[^.]*$/, "") === table && !others.has(base));
}
