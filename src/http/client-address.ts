import { isIP } from "node:net";
import type { Config } from "../config/config.ts";
import { forwardedFor, peerOf } from "./proxy.ts";

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
