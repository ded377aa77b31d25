import { isIP } from "node:net";
import type { Config } from "../config.ts";
import { forwardedFor, peerOf } from "./proxy.ts";

/**
 * The IP address that a request comes from; behind a trusted proxy, the one that it names. Null where
 * that is no address, and for a request that did not come over the network: a proxy must not be
 * blamed for its clients.
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
 * Where a request comes from, for limits: an IPv4 address, or the /64 network of an IPv6 one, which
 * one person has as a whole.
 */
export function clientAddress(request: Request, config: Pick<Config, "trustProxy">): string {
  const address = exactAddress(request, config) ?? "unknown";
  return address.includes(":") ? networkOf(address) : address;
}

function networkOf(address: string): string {
  const [head = "", tail] = address.split("::");
  const groups = head === "" ? [] : head.split(":");
  const rest = tail ? tail.split(":").length : 0;
  // `::` stands for as many zeros as are missing to eight groups.
  const missing = tail === undefined ? 0 : 8 - groups.length - rest;
  return `${[...groups, ...Array<string>(Math.max(0, missing)).fill("0")].slice(0, 4).join(":")}::/64`;
}
