import { COMMON_PASSWORDS } from "./assigned-patterns.ts";
import type { FoundSecret } from "./pattern.ts";

/** `scheme://user:password@host` (RFC 3986, section 3.2.1). A port with a path is no password. */
const CREDENTIALS =
  /:\/\/([^\s:@/?#'"<>`]{0,128}):(?!\d{1,5}(?:\/|$))([^\s@'"<>`]{3,256})@(?=[\w.[-])/g;

/** Finds passwords in URLs, such as that of a database. Common default passwords are not secrets. */
export function findUrlPasswords(text: string): FoundSecret[] {
  if (!text.includes("://")) return [];
  return [...text.matchAll(CREDENTIALS)].flatMap((match) => {
    const [whole, user, password = ""] = match;
    if (password === user || COMMON_PASSWORDS.test(password)) return [];
    const end = match.index + whole.length - "@".length;
    return [{ kind: "url-password", start: end - password.length, end }];
  });
}
