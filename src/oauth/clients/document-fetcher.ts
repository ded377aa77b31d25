import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { BlockList, isIP, isIPv4, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { readAtMost } from "../../system/downloads.ts";

/** IANA's special-purpose IPv4 addresses that are not globally reachable, and multicast. */
const SPECIAL_IPV4 = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const;

/** Within 2000::/3: protocol assignments with Teredo, documentation, and 6to4. */
const SPECIAL_IPV6 = [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
] as const;

const specialIpv4 = new BlockList();
for (const [network, bits] of SPECIAL_IPV4) specialIpv4.addSubnet(network, bits, "ipv4");
const specialIpv6 = new BlockList();
for (const [network, bits] of SPECIAL_IPV6) specialIpv6.addSubnet(network, bits, "ipv6");
const globalIpv6 = new BlockList();
// All addresses that are global today. Addresses that map or translate IPv4 are outside.
globalIpv6.addSubnet("2000::", 3, "ipv6");

/** Whether an IP address is on the public Internet, and not on this machine or its network. */
export function isPublicAddress(address: string): boolean {
  return isGlobal(address) && !isOwnAddress(address);
}

/** Whether this machine has an address, such as the public one of a server without a router. */
function isOwnAddress(address: string): boolean {
  const own = new BlockList();
  for (const each of Object.values(networkInterfaces()).flat()) {
    if (each) own.addAddress(each.address, each.family === "IPv6" ? "ipv6" : "ipv4");
  }
  return own.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

function isGlobal(address: string): boolean {
  if (isIPv4(address)) return !specialIpv4.check(address, "ipv4");
  if (!isIPv6(address) || address.includes("%")) return false;
  // A mapped IPv4 address would be checked as IPv4.
  if (address.includes(".") || /^::ffff:/i.test(address)) return false;
  return globalIpv6.check(address, "ipv6") && !specialIpv6.check(address, "ipv6");
}

/** Access to other hosts; tests replace it. */
interface Network {
  resolve(host: string): Promise<readonly string[]>;
  isPublic(address: string): boolean;
  readonly port: number;
  /** Certificate authorities instead of the usual ones. */
  readonly ca?: string;
}

const INTERNET: Network = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  isPublic: isPublicAddress,
  port: 443,
};

/** Bytes of a document. Documents are small: the draft mentions 5 KB. */
const MAX_BYTES = 16 << 10;
/** Milliseconds for the whole exchange. */
const TIMEOUT = 5_000;

/** A fetched document. */
export interface Fetched {
  readonly json: unknown;
  /** Milliseconds for which its server allows caching; null if it does not say. */
  readonly maxAge: number | null;
}

export type FetchDocument = (url: URL) => Promise<Fetched>;

/**
 * Creates a function that fetches a JSON document from an address that a stranger chose. It must not
 * open this machine's network (draft-ietf-oauth-client-id-metadata-document, section 6.5). It uses only
 * HTTPS on the standard port, connects to the address that it has found to be public, follows no
 * redirects, uses no proxy, and has a short time limit.
 * @returns a function that throws an Error for any failure
 */
export function createDocumentFetcher(network: Network = INTERNET): FetchDocument {
  return async (url) => {
    const signal = AbortSignal.timeout(TIMEOUT);
    if (
      url.protocol !== "https:" ||
      url.port !== "" ||
      url.username !== "" ||
      url.password !== ""
    ) {
      throw new Error("the address is not plain HTTPS");
    }
    const host = url.hostname.replace(/^\[|\]$/g, "");
    const addresses = isIP(host)
      ? [host]
      : await Promise.race([network.resolve(host), rejectWith(signal)]);
    // A private address among public ones is an attack too.
    const [address] = addresses;
    if (address === undefined || !addresses.every(network.isPublic)) {
      throw new Error("the host is not on the public Internet");
    }
    const response = await send(url, address, network, signal);
    try {
      if (response.statusCode !== 200) throw new Error(`the answer is ${response.statusCode}`);
      if (!isJson(response.headers["content-type"])) throw new Error("the answer is not JSON");
      const body = await readAtMost(response, MAX_BYTES);
      const text = new TextDecoder("utf-8", { fatal: true }).decode(body);
      return { json: JSON.parse(text), maxAge: maxAgeOf(response.headers["cache-control"]) };
    } finally {
      response.destroy();
    }
  };
}

function rejectWith(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function send(url: URL, address: string, { port, ca }: Network, signal: AbortSignal) {
  const family = isIP(address);
  const options: RequestOptions = {
    host: url.hostname,
    port,
    path: url.pathname + url.search,
    headers: { accept: "application/json", host: url.host },
    // A new connection, to the checked address and no other.
    agent: false,
    lookup: (_host, { all }, found) => {
      if (all) found(null, [{ address, family }]);
      else found(null, address, family);
    },
    signal,
    ...(ca !== undefined && { ca }),
  };
  return new Promise<IncomingMessage>((resolve, reject) => {
    request(options, resolve).on("error", reject).end();
  });
}

/** `application/json`, or a more specific type such as `application/client+json`. */
function isJson(type: string | undefined): boolean {
  return /^application\/([\w.-]+\+)?json *(;|$)/i.test(type ?? "");
}

function maxAgeOf(header: string | undefined): number | null {
  if (/\bno-(store|cache)\b/i.test(header ?? "")) return 0;
  const seconds = /\bmax-age=(\d{1,9})\b/i.exec(header ?? "")?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}
