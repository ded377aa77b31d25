import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { isFromProxy } from "../http/proxy.ts";

const LOCALHOST = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/i;
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/i;

/**
 * Refuses what a web page of someone else may send through a browser: a request with that page's
 * `Origin`, and one for a host name that was made to point here (DNS rebinding). An address as
 * host can't be made to point anywhere, and a trusted proxy may send any name: it has seen to that.
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
        "This host name is not the server's: use the address in CTXD_PUBLIC_URL.",
      );
    }
    const origin = request.headers.get("origin");
    if (origin === null) return;
    const from = URL.parse(origin);
    const isOurs = from !== null && (from.origin === known.origin || isLocal(from.hostname));
    if (!isOurs || from.origin !== origin.toLowerCase()) {
      throw new AppError("forbidden", "Requests from this origin are not answered.");
    }
  };
}
