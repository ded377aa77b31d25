import { isIP } from "node:net";
import type { Config } from "../config.ts";

/** The part of a running server that knows who is connected. */
interface Connections {
  requestIP(request: Request): { address: string } | null;
}

/**
 * The IP address that a request comes from. Behind a trusted proxy, the last entry of
 * `X-Forwarded-For`: the one that the proxy has written itself. Null where that is no address, and for
 * a request that did not come over the network: a proxy must not be blamed for its clients.
 */
export function exactAddress(
  request: Request,
  server: Connections | null,
  { trustProxy }: Pick<Config, "trustProxy">,
): string | null {
  const forwarded = trustProxy
    ? request.headers.get("x-forwarded-for")?.split(",").at(-1)?.trim()
    : undefined;
  const address = forwarded || server?.requestIP(request)?.address || "";
  const plain = withoutPort(address)
    .replace(/^::ffff:(?=\d+\.)/i, "")
    .replace(/%.*$/, "");
  return isIP(plain) === 0 ? null : plain;
}

/** Some proxies write `192.0.2.1:51234` and `[2001:db8::1]:51234`: each connection has another port. */
function withoutPort(address: string): string {
  return address.replace(/^\[([^\]]*)\](:\d+)?$/, "$1").replace(/^([\d.]+):\d+$/, "$1");
}

/**
 * Where a request comes from, for limits: an IPv4 address, or the /64 network of an IPv6 one, which
 * one person has as a whole.
 */
export function clientAddress(
  request: Request,
  server: Connections | null,
  config: Pick<Config, "trustProxy">,
): string {
  const address = exactAddress(request, server, config) ?? "unknown";
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
