import { BlockList, isIP } from "node:net";
import { homedir } from "node:os";
import { isAbsolute, join, resolve, sep } from "node:path";

/** The settings of a running program: read once, validated, frozen. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Absolute path of everything that must be kept. */
  readonly dataDir: string;
  /** Absolute path of what can be made again: unpacked libraries and the model. */
  readonly cacheDir: string;
  /** Origin that clients see, without a trailing slash. */
  readonly publicUrl: string;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Whose X-Forwarded-* headers are believed: nobody's, anybody's, or those of these addresses. */
  readonly trustProxy: boolean | BlockList;
  readonly allowHttp: boolean;
  readonly registration: "first" | "open" | "closed";
  readonly providers: Providers;
  /** Whether people can sign in with a password. */
  readonly passwords: boolean;
  readonly rateLimit: boolean;
  /** Backups on a schedule: a folder of their own, milliseconds between two, how many are kept. */
  readonly backups: {
    readonly folder: string;
    readonly every: number;
    readonly keep: number;
  } | null;
  /** To whom backups are encrypted (`age1…`); none for backups as they are. */
  readonly backupRecipients: readonly string[];
  /** A model other than the built-in one: a folder, or a name that fastembed knows. */
  readonly model: string | null;
  /** What each member may keep for whom the owner has set nothing else; null for any amount. */
  readonly memberQuota: { readonly memories: number; readonly bytes: number | null } | null;
  /** Where somebody reports a weakness of this server: a `mailto:` or `https:` address. */
  readonly securityContact: string | null;
  /** Days for which events of the security log are kept. */
  readonly securityLogDays: number;
  readonly decay: Decay;
  readonly logLevel: LogLevel;
  readonly logFormat: "text" | "json";
}

/** Through whom people can sign in beside their password; null for those that are not set up. */
export interface Providers {
  readonly github: ProviderClient | null;
  readonly google: ProviderClient | null;
  /** Any OpenID provider, by its issuer; `name` is what people call it. */
  readonly oidc: (ProviderClient & { readonly issuer: string; readonly name: string }) | null;
}

/** What a provider knows this server by. */
export interface ProviderClient {
  readonly clientId: string;
  readonly clientSecret: string;
}

/** How a memory's score sinks with age; `memories/ranking/retention.ts` has the formula. */
export interface Decay {
  /** The share of its score that a memory loses in the end, 0 to 1; 0 switches decay off. */
  readonly depth: number;
  /** Days in which half of that is lost, for a memory of importance 0 and of importance 1. */
  readonly halfLifeDays: readonly [least: number, most: number];
}

export const DEFAULT_DECAY: Decay = { depth: 0.25, halfLifeDays: [30, 480] };

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** A setting is wrong. `message` is the one line that the user sees. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Flags of the command line, by the name of the setting they stand for; they win over the environment. */
export type Flags = Partial<Record<SettingName, string>>;

/** Every setting with its meaning, in the order of the manual. `flag` is set where one exists. */
export const SETTINGS = {
  CTXD_HOST: { flag: "--host", meaning: "address to listen on (127.0.0.1)" },
  CTXD_PORT: { flag: "--port", meaning: "port to listen on (7733)" },
  CTXD_DATA_DIR: { flag: "--data-dir", meaning: "folder of everything that must be kept" },
  CTXD_CACHE_DIR: { flag: null, meaning: "folder of unpacked libraries and the model" },
  CTXD_PUBLIC_URL: { flag: null, meaning: "origin that clients see (http://localhost:PORT)" },
  CTXD_TLS_CERT: {
    flag: null,
    meaning: "certificate file in PEM, to serve HTTPS; read again when it changes",
  },
  CTXD_TLS_KEY: { flag: null, meaning: "private key file in PEM, to serve HTTPS" },
  CTXD_TRUST_PROXY: {
    flag: null,
    meaning: "believe X-Forwarded-* headers: true, or of proxies with these addresses (false)",
  },
  CTXD_ALLOW_HTTP: {
    flag: null,
    meaning: "allow plain HTTP under another name than localhost (false)",
  },
  CTXD_REGISTRATION: { flag: null, meaning: "who may sign up: first, open or closed (first)" },
  CTXD_GITHUB_CLIENT_ID: { flag: null, meaning: "to sign in with GitHub" },
  CTXD_GITHUB_CLIENT_SECRET: { flag: null, meaning: "goes with CTXD_GITHUB_CLIENT_ID" },
  CTXD_GOOGLE_CLIENT_ID: { flag: null, meaning: "to sign in with Google" },
  CTXD_GOOGLE_CLIENT_SECRET: { flag: null, meaning: "goes with CTXD_GOOGLE_CLIENT_ID" },
  CTXD_OIDC_ISSUER: { flag: null, meaning: "to sign in with this OpenID provider" },
  CTXD_OIDC_CLIENT_ID: { flag: null, meaning: "goes with CTXD_OIDC_ISSUER" },
  CTXD_OIDC_CLIENT_SECRET: { flag: null, meaning: "goes with CTXD_OIDC_ISSUER" },
  CTXD_OIDC_NAME: { flag: null, meaning: "what people call that provider (its host)" },
  CTXD_PASSWORDS: {
    flag: null,
    meaning: "on, or off where people sign in through a provider alone (on)",
  },
  CTXD_RATE_LIMIT: {
    flag: null,
    meaning: "on, or off for trusted networks; passwords stay limited (on)",
  },
  CTXD_BACKUP_DIR: {
    flag: null,
    meaning: "a folder for backups on a schedule, which servers may share (none)",
  },
  CTXD_BACKUP_RECIPIENT: {
    flag: null,
    meaning: "encrypt backups to this recipient of age, or to several: age1... (none)",
  },
  CTXD_BACKUP_EVERY: { flag: null, meaning: "time between two: 30m, 12h, 1d, 1w (24h)" },
  CTXD_BACKUP_KEEP: { flag: null, meaning: "how many of them are kept (7)" },
  CTXD_MODEL: { flag: null, meaning: "another embedding model: a folder or a name" },
  CTXD_MODEL_SOURCE: {
    flag: null,
    meaning: "at build time: a folder that holds the model's files",
  },
  CTXD_DECAY_DEPTH: {
    flag: null,
    meaning: "share of its score that an old memory loses in the end, 0 for none (0.25)",
  },
  CTXD_HALF_LIFE: {
    flag: null,
    meaning: "days in which half of that is lost, at importance 0 and at 1 (30-480)",
  },
  CTXD_MEMBER_QUOTA: {
    flag: null,
    meaning:
      "what each member may keep, as memories or memories,bytes: 10000 or 10000,20M, or none (10000,20M where anyone may sign up, else none)",
  },
  CTXD_SECURITY_CONTACT: {
    flag: null,
    meaning: "where weaknesses are reported: an e-mail or https address, for security.txt (none)",
  },
  CTXD_SECURITY_LOG_DAYS: {
    flag: null,
    meaning: "days for which the security log keeps its events (90)",
  },
  CTXD_LOG_LEVEL: { flag: null, meaning: "debug, info, warn, error or silent (info)" },
  CTXD_LOG_FORMAT: { flag: null, meaning: "text or json (text)" },
} as const;
export type SettingName = keyof typeof SETTINGS;

/**
 * Reads the settings from flags and environment. An empty value counts as not set.
 * @param defaultDataDir where the data lives when nothing says otherwise
 * @throws ConfigError for an unknown or malformed setting
 */
export function readConfig(env: Environment, flags: Flags, defaultDataDir?: string): Config {
  for (const name of Object.keys(env)) {
    if (name.startsWith("CTXD_") && !(name in SETTINGS)) {
      throw new ConfigError(
        `Unknown setting ${name}. Known settings: ${Object.keys(SETTINGS).join(", ")}.`,
      );
    }
  }
  const read = (name: SettingName) => flags[name] || env[name] || undefined;
  const fail = (name: SettingName, allowed: string): never => {
    const label = flags[name] ? SETTINGS[name].flag : name;
    throw new ConfigError(`${label}=${JSON.stringify(read(name))} is not valid: use ${allowed}.`);
  };
  const choice = <T extends string>(name: SettingName, values: readonly T[], fallback: T): T => {
    const value = read(name) ?? fallback;
    return values.find((allowed) => allowed === value) ?? fail(name, values.join(", "));
  };
  const toggle = (name: SettingName) => choice(name, ["true", "false"], "false") === "true";

  const host = read("CTXD_HOST") ?? "127.0.0.1";
  if (!/^[\w.:[\]-]{1,255}$/.test(host)) fail("CTXD_HOST", "a host name or an IP address");

  const port = Number(read("CTXD_PORT") ?? "7733");
  if (!/^\d{1,5}$/.test(read("CTXD_PORT") ?? "7733") || port > 65_535) {
    fail("CTXD_PORT", "a whole number from 0 to 65535 (0 takes a free port)");
  }

  const cert = read("CTXD_TLS_CERT");
  const key = read("CTXD_TLS_KEY");
  if (cert && !key) fail("CTXD_TLS_CERT", "it together with CTXD_TLS_KEY");
  if (key && !cert) fail("CTXD_TLS_KEY", "it together with CTXD_TLS_CERT");

  const client = (id: SettingName, secret: SettingName, first = id): ProviderClient | null => {
    const clientId = read(id);
    const clientSecret = read(secret);
    const given = [read(first), clientId, clientSecret].filter((value) => value !== undefined);
    if (given.length === 0) return null;
    if (clientId && clientSecret && read(first)) return { clientId, clientSecret };
    const names = [...new Set([first, id, secret])];
    throw new ConfigError(`${names.join(", ")} go together: set all of them, or none.`);
  };
  const issuer = read("CTXD_OIDC_ISSUER") ?? "";
  const oidc = client("CTXD_OIDC_CLIENT_ID", "CTXD_OIDC_CLIENT_SECRET", "CTXD_OIDC_ISSUER");
  if (oidc && !isIssuer(issuer))
    fail("CTXD_OIDC_ISSUER", "the https address of an OpenID provider");
  const oidcName = read("CTXD_OIDC_NAME") ?? URL.parse(issuer)?.host ?? "";
  if (oidcName.length > 40) fail("CTXD_OIDC_NAME", "a name of at most 40 characters");

  const providers: Providers = {
    github: client("CTXD_GITHUB_CLIENT_ID", "CTXD_GITHUB_CLIENT_SECRET"),
    google: client("CTXD_GOOGLE_CLIENT_ID", "CTXD_GOOGLE_CLIENT_SECRET"),
    oidc: oidc && { ...oidc, issuer, name: oidcName },
  };
  const passwords = choice("CTXD_PASSWORDS", ["on", "off"], "on") === "on";
  if (!passwords && Object.values(providers).every((provider) => provider === null)) {
    throw new ConfigError(
      "CTXD_PASSWORDS=off needs another way to sign in: set up GitHub, Google or an OpenID provider.",
    );
  }

  const depth = read("CTXD_DECAY_DEPTH") ?? `${DEFAULT_DECAY.depth}`;
  if (!/^(0|1|0?\.\d{1,6})$/.test(depth)) fail("CTXD_DECAY_DEPTH", "a number from 0 to 1");

  const halfLife = read("CTXD_HALF_LIFE") ?? DEFAULT_DECAY.halfLifeDays.join("-");
  const [, least = 0, most = 0] = /^(\d{1,5})-(\d{1,5})$/.exec(halfLife)?.map(Number) ?? [];
  if (least < 1 || most < least) {
    fail("CTXD_HALF_LIFE", "two whole numbers of days such as 30-480, the smaller one first");
  }

  const backupDir = read("CTXD_BACKUP_DIR");
  const backupRecipients = (read("CTXD_BACKUP_RECIPIENT") ?? "").split(/[\s,]+/).filter(Boolean);
  if (!backupRecipients.every((recipient) => /^age1[0-9a-z]{8,3000}$/.test(recipient))) {
    // What stands there may be the secret that belongs to it.
    throw new ConfigError(
      "CTXD_BACKUP_RECIPIENT is not valid: use recipients of age (age1...), with commas between them.",
    );
  }
  const every = parseSpan(read("CTXD_BACKUP_EVERY") ?? "24h");
  if (every === null) fail("CTXD_BACKUP_EVERY", "minutes, hours, days or weeks: 30m, 12h, 1d, 1w");
  const keep = read("CTXD_BACKUP_KEEP") ?? "7";
  if (!/^[1-9]\d{0,3}$/.test(keep)) fail("CTXD_BACKUP_KEEP", "a whole number from 1 to 9999");

  const registration = choice("CTXD_REGISTRATION", ["first", "open", "closed"], "first");
  const memberQuota = parseQuota(
    read("CTXD_MEMBER_QUOTA") ?? (registration === "open" ? "10000,20M" : "none"),
  );
  if (memberQuota === undefined) {
    fail("CTXD_MEMBER_QUOTA", "memories and bytes such as 10000 or 10000,20M, or none");
  }
  const contact = read("CTXD_SECURITY_CONTACT");
  if (contact && !CONTACT.test(contact)) {
    fail("CTXD_SECURITY_CONTACT", "an e-mail address or an https address");
  }
  const securityLogDays = read("CTXD_SECURITY_LOG_DAYS") ?? "90";
  if (!/^[1-9]\d{0,3}$/.test(securityLogDays)) {
    fail("CTXD_SECURITY_LOG_DAYS", "a whole number of days from 1 to 9999");
  }

  const dataHome = baseFolder(env.XDG_DATA_HOME, env, ".local", "share");
  const dataDir = read("CTXD_DATA_DIR") ?? defaultDataDir ?? dataHome;
  if (dataDir === null) {
    throw new ConfigError("There is no home folder: set CTXD_DATA_DIR or use --data-dir.");
  }
  if (backupDir && `${resolve(backupDir)}${sep}`.startsWith(`${resolve(dataDir)}${sep}`)) {
    fail("CTXD_BACKUP_DIR", "a folder outside the data folder, best on another disk");
  }
  const cacheDir =
    read("CTXD_CACHE_DIR") ??
    baseFolder(env.XDG_CACHE_HOME, env, ".cache") ??
    join(dataDir, "cache");

  return Object.freeze({
    host,
    port,
    dataDir: resolve(dataDir),
    cacheDir: resolve(cacheDir),
    publicUrl:
      readOrigin(read("CTXD_PUBLIC_URL"), () =>
        fail("CTXD_PUBLIC_URL", "an origin such as https://memory.example.com, without a path"),
      ) ?? `${cert ? "https" : "http"}://localhost:${port}`,
    tls: cert && key ? { cert, key } : null,
    trustProxy: readProxies(read("CTXD_TRUST_PROXY") ?? "false", () =>
      fail(
        "CTXD_TRUST_PROXY",
        "true, false, or the addresses and ranges of proxies such as 127.0.0.1,10.0.0.0/8",
      ),
    ),
    allowHttp: toggle("CTXD_ALLOW_HTTP"),
    registration,
    providers,
    passwords,
    rateLimit: choice("CTXD_RATE_LIMIT", ["on", "off"], "on") === "on",
    backups:
      backupDir && every !== null
        ? { folder: resolve(backupDir), every, keep: Number(keep) }
        : null,
    backupRecipients,
    model: read("CTXD_MODEL") ?? null,
    memberQuota: memberQuota ?? null,
    securityContact: contact?.replace(/^(?!https:|mailto:)/, "mailto:") ?? null,
    securityLogDays: Number(securityLogDays),
    decay: { depth: Number(depth), halfLifeDays: [least, most] as const },
    logLevel: choice("CTXD_LOG_LEVEL", LOG_LEVELS, "info"),
    logFormat: choice("CTXD_LOG_FORMAT", ["text", "json"], "text"),
  });
}

/**
 * Where the XDG base directory specification puts a program's files: a folder of ours in the one
 * that the environment names (a relative one must be ignored), else in the home folder. Null when
 * there is no home, as for a user without an entry in the system's list.
 */
function baseFolder(named: string | undefined, env: Environment, ...inHome: string[]) {
  if (named && isAbsolute(named)) return join(named, "ctxd");
  try {
    return join(env.HOME || homedir(), ...inHome, "ctxd");
  } catch {
    return null;
  }
}

const UNITS = new Map([
  ["m", 60_000],
  ["h", 3_600_000],
  ["d", 24 * 3_600_000],
  ["w", 7 * 24 * 3_600_000],
]);

/** Milliseconds of a time such as `12h`; null for anything else. */
function parseSpan(text: string): number | null {
  const [, count = "", unit = ""] = /^([1-9]\d{0,3})([mhdw])$/.exec(text) ?? [];
  return Number(count) * (UNITS.get(unit) ?? 0) || null;
}

const BYTES = new Map([
  ["", 1],
  ["k", 1e3],
  ["M", 1e6],
  ["G", 1e9],
]);

/** Memories and bytes such as `10000,20M`; null for `none`, and undefined for anything else. */
function parseQuota(text: string): Config["memberQuota"] | undefined {
  if (text === "none") return null;
  const [, memories, bytes, multiple = ""] =
    /^(\d{1,12})(?:,(\d{1,12})([kMG]?))?$/.exec(text) ?? [];
  if (memories === undefined) return undefined;
  return {
    memories: Number(memories),
    bytes: bytes === undefined ? null : Number(bytes) * (BYTES.get(multiple) ?? 1),
  };
}

/** One line without white space, as it stands in security.txt (RFC 9116, section 2.5.3). */
const CONTACT =
  /^(?:https:\/\/[!-~]{1,500}|(?:mailto:)?[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*)$/;

/** OpenID Connect Discovery 1.0, section 2: https, and neither query nor fragment. */
function isIssuer(value: string): boolean {
  const url = URL.parse(value);
  const isLocal = url?.protocol === "http:" && /^(localhost|127\.0\.0\.1)$/.test(url.hostname);
  return url !== null && (url.protocol === "https:" || isLocal) && !/[?#@]/.test(value);
}

/** `true`, `false`, or IP addresses and CIDR ranges (RFC 4632) with commas between them. */
function readProxies(value: string, fail: () => never): boolean | BlockList {
  if (value === "true" || value === "false") return value === "true";
  const list = new BlockList();
  for (const entry of value.split(",").map((each) => each.trim())) {
    const [, address = "", bits] = /^([\da-f.:]+)(?:\/(\d{1,3}))?$/i.exec(entry) ?? [];
    const family = isIP(address);
    if (family === 0 || Number(bits ?? 0) > (family === 6 ? 128 : 32)) return fail();
    const name = family === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(address, name);
    else list.addSubnet(address, Number(bits), name);
  }
  return list;
}

function readOrigin(value: string | undefined, fail: () => never): string | undefined {
  if (value === undefined) return undefined;
  const url = URL.parse(value);
  // Whatever stands beyond the origin (a path, a user, an empty query) makes `href` longer.
  if (!url || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`) return fail();
  return url.origin;
}
