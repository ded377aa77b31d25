import type { Config } from "../config.ts";
import { createSecret } from "../db/secret.ts";
import { isLocalhost } from "../http/https-rule.ts";
import { SET_UP_PATH } from "../sign-in/paths.ts";

/**
 * What proves, at an empty server, that somebody has started it: a secret that it prints. Null when
 * no other machine can reach it.
 */
export function createSetUpToken({
  host,
  publicUrl,
  trustProxy,
}: Pick<Config, "host" | "publicUrl" | "trustProxy">): string | null {
  const isAlone = isLocalhost(host.replace(/^::1$/, "[::1]"));
  const isKnownAsLocal = isLocalhost(new URL(publicUrl).hostname);
  return isAlone && isKnownAsLocal && !trustProxy ? null : createSecret("");
}

/** Where the owner's account is made. @param address of the server */
export function setUpLink(address: string, token: string | null): string {
  return address + SET_UP_PATH + (token === null ? "" : `?token=${token}`);
}
