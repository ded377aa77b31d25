import type { Config } from "../config/config.ts";
import { isLocalhost } from "./https-rule.ts";
import { isHttpsAtProxy } from "./proxy.ts";

/** A year, in which a browser that has used HTTPS here uses nothing else. */
const POLICY = { "strict-transport-security": "max-age=31536000" };

/**
 * Tells browsers to use only HTTPS (RFC 6797, section 7.1). The header is sent over HTTPS, whether ours
 * or that of a trusted proxy, and under the server's public name. It is never sent for names of this
 * machine, where it would apply to every port.
 * @returns a function that returns the headers to add to an answer, or null
 */
export function createStrictTransport({
  publicUrl,
  tls,
  trustProxy,
}: Pick<Config, "publicUrl" | "tls" | "trustProxy">): (request: Request) => typeof POLICY | null {
  const { protocol, hostname } = new URL(publicUrl);
  const isPublic = protocol === "https:" && !isLocalhost(hostname);
  return (request) => {
    if (tls) return isLocalhost(URL.parse(request.url)?.hostname ?? "localhost") ? null : POLICY;
    return isPublic && isHttpsAtProxy(request, trustProxy) ? POLICY : null;
  };
}
