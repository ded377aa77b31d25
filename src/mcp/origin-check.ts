import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { isFromProxy } from "../http/proxy.ts";

const LOCALHOST = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/i;
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/i;

/**
 * Rejects requests that a foreign web page may send through a user's browser: requests with the
 * page's `Origin`, and requests for a host name whose DNS entry was changed to this machine (DNS
 * rebinding). IP addresses as host are safe from that. A trusted proxy checks the host name itself.
 * @throws AppError `forbidden`
 */
export function createOriginCheck({
  publicUrl,
  trustProxy,
}: Pick<Config, "publicUrl" | "trustProxy">): (request: Request) => void {
  const known = new URL(publicUrl);
  const isLocal = (hostname: string) => LOCALHOST.test(hostname);

  return (request) => {
    const host = URL.parse(request.url)?.hostname ?? "";
    const isKnown = host === known.hostname || isLocal(host) || ADDRESS.test(host);
    if (!isKnown && !isFromProxy(request, trustProxy)) {
      throw new AppError(
        "forbidden",
        "The server does not know this host name. Use the address in CTXD_PUBLIC_URL.",
      );
    }
    const origin = request.headers.get("origin");
    if (origin === null) return;
    const from = URL.parse(origin);
    const isOurs = from !== null && (from.origin === known.origin || isLocal(from.hostname));
    if (!isOurs || from.origin !== origin.toLowerCase()) {
      throw new AppError("forbidden", "The server does not answer requests from this origin.");
    }
  };
}
