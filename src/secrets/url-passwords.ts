import { KNOWN_TO_ALL } from "./assigned-patterns.ts";
import type { FoundSecret } from "./pattern.ts";

/** RFC 3986, 3.2.1: `scheme://user:password@host`. A port and a path are no password. */
const CREDENTIALS =
  /:\/\/([^\s:@/?#'"<>`]{0,128}):(?!\d{1,5}(?:\/|$))([^\s@'"<>`]{3,256})@(?=[\w.[-])/g;

/** The passwords of URLs, such as that of a database. Names that everybody knows are none. */
export function findUrlPasswords(text: string): FoundSecret[] {
  if (!text.includes("://")) return [];
  return [...text.matchAll(CREDENTIALS)].flatMap((match) => {
    const [whole, user, password = ""] = match;
    if (password === user || KNOWN_TO_ALL.test(password)) return [];
    const end = match.index + whole.length - "@".length;
    return [{ kind: "url-password", start: end - password.length, end }];
  });
}
