import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { isFromProxy } from "./proxy.ts";

/**
 * Refuses requests for pages under a host name other than the public one, which an attacker may have
 * pointed here (DNS rebinding). A trusted proxy checks names itself, and may send any.
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
