import type { Manifest } from "../backup/manifest.ts";

/** Describes the contents of a backup: accounts, tables, files and their size. */
export function describeBackup({ accounts, tables, files }: Manifest): string {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    `${count(accounts, "account")}, ${count(tables, "table")} of memories`,
    `${count(files.length, "file")} (${size})`,
  ].join(", ");
}

/** Formats a number with its noun, such as `2 keys`. */
export function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
