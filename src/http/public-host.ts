import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { isFromProxy } from "./proxy.ts";

/**
 * Refuses requests for pages under another host name than the public one, which may be somebody's
 * who made it point here (DNS rebinding). A trusted proxy decides that itself, and may send any name.
 * @throws AppError `forbidden`
 */
export function createHostCheck({
  publicUrl,
  trustProxy,
}: Pick<Config, "publicUrl" | "trustProxy">): (request: Request) => void {
  const { host } = new URL(publicUrl);
  return (request) => {
    if (isFromProxy(request, trustProxy) || URL.parse(request.url)?.host === host) return;
    throw new AppError(
      "forbidden",
      `This page is not served under this address: use ${publicUrl} (CTXD_PUBLIC_URL).`,
    );
  };
}
