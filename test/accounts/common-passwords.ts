// Writes `src/accounts/common-passwords.txt`: bun test/accounts/common-passwords.ts
import { join } from "node:path";
import passwords from "@zxcvbn-ts/language-common/src/passwords.json";
import { PASSWORD_LENGTH } from "../../src/accounts/passwords.ts";

/** The list that the program carries. */
export const COMMON_PASSWORDS = join(import.meta.dir, "../../src/accounts/common-passwords.txt");

/** The passwords that are long enough to be chosen, the most common first. */
export function listCommonPasswords(): string {
  const normal = passwords.map((password) => password.normalize("NFKC").toLowerCase());
  const allowed = normal.filter((password) => [...password].length >= PASSWORD_LENGTH.min);
  return [...new Set(allowed)].map((password) => `${password}\n`).join("");
}

if (import.meta.main) await Bun.write(COMMON_PASSWORDS, listCommonPasswords());
