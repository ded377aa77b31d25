import { BlockList, isIP } from "node:net";

const UNITS = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 24 * 3_600_000],
  ["w", 7 * 24 * 3_600_000],
]);

/** Milliseconds of a duration such as `12h`; null for other texts. */
export function parseSpan(text: string): number | null {
  const [, count = "", unit = ""] = /^([1-9]\d{0,3})([mhdw])$/.exec(text) ?? [];
  return Number(count) * (UNITS.get(unit) ?? 0) || null;
}

const MULTIPLES = new Map([
  ["", 1],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
  ["T", 1e12],
]);

/** A whole number with a multiple, such as `10000` or `500M`; null for other texts. */
export function parseSize(text: string): number | null {
  const [, count, multiple = ""] = /^(\d{1,12})([kMGT]?)$/.exec(text) ?? [];
  return count === undefined ? null : Number(count) * (MULTIPLES.get(multiple) ?? 1);
}

/** Bytes of a size such as `500M`; null for other texts and for 0. */
export function parseBytes(text: string): number | null {
  return parseSize(text) || null;
}

/** A quota of memories and bytes such as `10000,20M`; null for `none`, undefined for other texts. */
export function parseQuota(
  text: string,
): { memories: number; bytes: number | null } | null | undefined {
  if (text === "none") return null;
  const [, memories, bytes] = /^(\d{1,12})(?:,(\d{1,12}[kMG]?))?$/.exec(text) ?? [];
  if (memories === undefined) return undefined;
  return { memories: Number(memories), bytes: bytes === undefined ? null : parseSize(bytes) };
}

/** A contact of security.txt without white space (RFC 9116, section 2.5.3). */
const CONTACT =
  /^(?:https:\/\/[!-~]{1,500}|(?:mailto:)?[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*)$/;

/** The address of a contact of security.txt, with its scheme; null for other texts. */
export function parseContact(text: string): string | null {
  return CONTACT.test(text) ? text.replace(/^(?!https:|mailto:)/, "mailto:") : null;
}

/**
 * Whether an address uses https (http is allowed on this machine) and has no query and no fragment. OpenID
 * Connect Discovery 1.0, section 2, requires this of issuers.
 */
export function isSecureAddress(value: string): boolean {
  const url = URL.parse(value);
  const isLocal = url?.protocol === "http:" && /^(localhost|127\.0\.0\.1)$/.test(url.hostname);
  return url !== null && (url.protocol === "https:" || isLocal) && !/[?#@]/.test(value);
}

/** `true`, `false`, or a list of IP addresses and CIDR ranges (RFC 4632) separated by commas; null for other texts. */
export function parseProxies(value: string): boolean | BlockList | null {
  if (value === "true" || value === "false") return value === "true";
  const list = new BlockList();
  for (const entry of value.split(",").map((each) => each.trim())) {
    const [, address = "", bits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(entry) ?? [];
    const family = isIP(address);
    if (family === 0 || Number(bits ?? 0) > (family === 6 ? 128 : 32)) return null;
    const name = family === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, name);
    else list.addSubnet(address, Number(bits), name);
  }
  return list;
}

/** An origin such as `https://memory.example.com`, without a trailing slash; null for other texts. */
export function parseOrigin(value: string): string | null {
  const url = URL.parse(value);
  // Anything after or inside the origin (a path, a user, an empty query) makes `href` longer.
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) return null;
  return url.origin;
}
