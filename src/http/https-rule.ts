import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { isHttpsAtProxy } from "./proxy.ts";

const LOCALHOST = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/i;

/** Whether a host name always means this machine. */
export function isLocalhost(hostname: string): boolean {
  return LOCALHOST.test(hostname);
}

/** Kubernetes and load balancers use the address of a machine, not its name. */
const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/i;
const PROBED = /^\/api\/health(\/live)?$/;

/**
 * Refuses plain HTTP under any host name but localhost, because keys would cross the network
 * unencrypted. This is checked before credentials are read. Health checks need no credentials and are
 * answered.
 * @throws AppError `https_required`
 */
export function createHttpsRule({
  tls,
  trustProxy,
  allowHttp,
}: Pick<Config, "tls" | "trustProxy" | "allowHttp">): (request: Request) => void {
  if (tls || allowHttp) return () => {};
  return (request) => {
    if (isLocalhost(hostOf(request))) return;
    if (isHttpsAtProxy(request, trustProxy) || isProbe(request)) return;
    throw new AppError(
      "https_required",
      "Plain HTTP is for localhost only. Use HTTPS, or set CTXD_ALLOW_HTTP=true on the server.",
    );
  };
}

function isProbe({ url, headers }: Request): boolean {
  const { hostname = "", pathname = "" } = URL.parse(url) ?? {};
  if (!ADDRESS.test(hostname) || !PROBED.test(pathname)) return false;
  return !headers.has("authorization") && !headers.has("cookie");
}

function hostOf(request: Request): string {
  return URL.parse(request.url)?.hostname ?? "";
}
