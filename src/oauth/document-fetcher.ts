import { lookup } from "node:dns/promises";
import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** Access to other hosts; tests replace it. */
interface Network {
  /** All addresses of a host. */
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
      const body = await readAll(response);
      return { json: JSON.parse(body), maxAge: maxAgeOf(response.headers["cache-control"]) };
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

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BYTES) throw new Error("the document is too large");
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
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
