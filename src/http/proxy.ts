import { type BlockList, isIP } from "node:net";
import type { Config } from "../config.ts";

/** The part of a running server that knows who is connected. */
export interface Connections {
  requestIP(request: Request): { address: string } | null;
}

const peers = new WeakMap<Request, string>();

/** Remembers who is connected. The first thing that is done with a request. */
export function rememberPeer(request: Request, server: Connections | null): void {
  const address = server?.requestIP(request)?.address;
  if (address !== undefined) peers.set(request, address);
}

/** The address of who is connected; empty for a request that did not come over the network. */
export function peerOf(request: Request): string {
  return plainAddress(peers.get(request) ?? "");
}

/** Whether a request comes from a proxy whose `X-Forwarded-*` headers are believed. */
export function isFromProxy(request: Request, trustProxy: Config["trustProxy"]): boolean {
  if (typeof trustProxy === "boolean") return trustProxy;
  return isOneOf(peerOf(request), trustProxy);
}

/** Whether such a proxy says that its client came by HTTPS. */
export function isHttpsAtProxy(request: Request, trustProxy: Config["trustProxy"]): boolean {
  const protocol = request.headers.get("x-forwarded-proto")?.toLowerCase();
  return protocol === "https" && isFromProxy(request, trustProxy);
}

/**
 * What a trusted proxy says of its client: the last entry of `X-Forwarded-For`, which it has written
 * itself. Where trusted proxies are known by their addresses, those that it names are passed over.
 * Null where no such proxy has asked.
 */
export function forwardedFor(request: Request, trustProxy: Config["trustProxy"]): string | null {
  if (!isFromProxy(request, trustProxy)) return null;
  const header = request.headers.get("x-forwarded-for") ?? "";
  const entries = header.split(",").map((entry) => plainAddress(entry.trim()));
  const isKnown = (entry: string) => typeof trustProxy !== "boolean" && isOneOf(entry, trustProxy);
  return entries.findLast((entry) => !isKnown(entry)) ?? entries[0] ?? null;
}

/**
 * An address as it is compared: without a port, which some proxies write (`192.0.2.1:51234`,
 * `[2001:db8::1]:51234`) and which is another one for each connection, without a zone, and IPv4 as such.
 */
function plainAddress(address: string): string {
  return address
    .replace(/^\[([^\]]*)\](:\d+)?$/, "$1")
    .replace(/^([\d.]+):\d+$/, "$1")
    .replace(/^::ffff:(?=\d+\.)/i, "")
    .replace(/%.*$/, "");
}

function isOneOf(address: string, list: BlockList): boolean {
  const plain = plainAddress(address);
  const family = isIP(plain);
  return family !== 0 && list.check(plain, family === 6 ? "ipv6" : "ipv4");
}
