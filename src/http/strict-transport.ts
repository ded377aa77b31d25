import type { Config } from "../config.ts";
import { isLocalhost } from "./https-rule.ts";
import { isHttpsAtProxy } from "./proxy.ts";

/** A year: a browser that has been here by HTTPS comes by nothing else that long. */
const POLICY = { "strict-transport-security": "max-age=31536000" };

/**
 * Tells browsers to come by HTTPS alone (RFC 6797, section 7.1): in answers that go over HTTPS, that
 * of our own or that of a trusted proxy, and where the server is known by it. Never for this
 * machine's own names, where browsers would keep to it on every port.
 * @returns a function that gives the headers to add to an answer, or null
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
