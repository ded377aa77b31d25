import { type BlockList, isIP } from "node:net";
import type { Config } from "../../config/config.ts";
import { AppError } from "../../errors.ts";

/** The part of a running server that knows the addresses of connections. */
export interface Connections {
  requestIP(request: Request): { address: string } | null;
}

const peers = new WeakMap<Request, string>();

/** Remembers the peer's address. This is the first step of every request. */
export function rememberPeer(request: Request, server: Connections | null): void {
  const address = server?.requestIP(request)?.address;
  if (address !== undefined) peers.set(request, address);
}

/** The peer's address; empty for a request that did not use the network. */
export function peerOf(request: Request): string {
  return plainAddress(peers.get(request) ?? "");
}

/** Whether a request comes from a trusted proxy, whose `X-Forwarded-*` headers count. */
export function isFromProxy(request: Request, trustProxy: Config["trustProxy"]): boolean {
  if (typeof trustProxy === "boolean") return trustProxy;
  return isOneOf(peerOf(request), trustProxy);
}

/** Whether a trusted proxy reports that its client used HTTPS. */
export function isHttpsAtProxy(request: Request, trustProxy: Config["trustProxy"]): boolean {
  const protocol = request.headers.get("x-forwarded-proto")?.toLowerCase();
  return protocol === "https" && isFromProxy(request, trustProxy);
}

/**
 * The client's address from a trusted proxy: the last entry of `X-Forwarded-For`, which the proxy
 * itself wrote. If trusted proxies are known by address, their entries are skipped. Null without a
 * trusted proxy.
 */
function forwardedFor(request: Request, trustProxy: Config["trustProxy"]): string | null {
  if (!isFromProxy(request, trustProxy)) return null;
  const header = request.headers.get("x-forwarded-for") ?? "";
  const entries = header.split(",").map((entry) => plainAddress(entry.trim()));
  const isKnown = (entry: string) => typeof trustProxy !== "boolean" && isOneOf(entry, trustProxy);
  return entries.findLast((entry) => !isKnown(entry)) ?? entries[0] ?? null;
}

/**
 * An address for comparisons. It has no port: some proxies write one (`192.0.2.1:51234`,
 * `[2001:db8::1]:51234`), which differs for each connection. It has no zone, and mapped IPv4 addresses
 * become plain ones.
 */
function plainAddress(address: string): string {
  return address
    .replace(/^\[([^\]]*)\](:\d+)?$/, "$1")
    .replace(/^([\d.]+):\d+$/, "$1")
    .replace(/^::ffff:(?=\d+\.)/i, "")
    .replace(/%.*$/s, "");
}

function isOneOf(address: string, list: BlockList): boolean {
  const plain = plainAddress(address);
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 6 ? "ipv6" : "ipv4");
}

/**
 * The IP address of a request's client; behind a trusted proxy, the address that the proxy names. Null
 * if the proxy names none, so that it is not blamed for its clients, and for requests that did not use
 * the network.
 */
export function exactAddress(
  request: Request,
  { trustProxy }: Pick<Config, "trustProxy">,
): string | null {
  const forwarded = forwardedFor(request, trustProxy);
  const plain = forwarded || peerOf(request);
  return isIP(plain) === 0 ? null : plain;
}

/**
 * The network that limits count a request for: an IPv4 address, or the /64 network of an IPv6 address,
 * which belongs to one person.
 */
export function clientAddress(request: Request, config: Pick<Config, "trustProxy">): string {
  const address = exactAddress(request, config) ?? "unknown";
  return address.includes(":") ? networkOf(address) : address;
}

function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail ? tail.split(":").length : 0;
  // `::` is short for the zeros that are missing from eight groups.
  const missing = tail === undefined ? 0 : 8 - groups.length - rest;
  return `${[...groups, ...Array<string>(Math.max(0, missing)).fill("0")].slice(0, 4).join(":")}::/64`;
}

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

const LOCALHOST = /^(localhost|.+\.localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/i;

/** Whether a host name always means this machine. */
export function isLocalhost(hostname: string): boolean {
  return LOCALHOST.test(hostname);
}

/** An IP address as the host name of a URL. Kubernetes and load balancers use it, not the name of a machine. */
export const ADDRESS = /^(\d{1,3}(\.\d{1,3}){3}|\[[\da-f:.]+\])$/i;
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
    if (isLocalhost(URL.parse(request.url)?.hostname ?? "")) return;
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
