import { type BlockList, isIP } from "node:net";
import type { Config } from "../config/config.ts";

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
export function forwardedFor(request: Request, trustProxy: Config["trustProxy"]): string | null {
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
