import { join, resolve, sep } from "node:path";
import { cacheFolder, dataFolder } from "../system/folders.ts";
import {
  isSecureAddress,
  parseBytes,
  parseContact,
  parseOrigin,
  parseProxies,
  parseQuota,
  parseSpan,
} from "./setting-values.ts";
import {
  ConfigError,
  createSettingReader,
  type Environment,
  type Flags,
  type SettingName,
  type SettingReader,
} from "./settings.ts";
import { readShared } from "./shared-settings.ts";

/** The settings of the program: read once, checked and frozen. */
export type Config = ReturnType<typeof readConfig>;

/** The credentials of this server at the providers that users can sign in with; null for those that are not set up. */
export type Providers = ReturnType<typeof readProviders>;

/** How the score of a memory decreases with age. See `memories/ranking/retention.ts` for the formula. */
export interface Decay {
  /** The share of its score that a memory can lose, 0 to 1; 0 switches decay off. */
  readonly depth: number;
  /** Days until half of that share is lost, at importance 0 and at importance 1. */
  readonly halfLifeDays: readonly [least: number, most: number];
}

export const DEFAULT_DECAY: Decay = { depth: 0.25, halfLifeDays: [30, 480] };

export const LOG_LEVELS = ["debug", "info", "warn", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Reads the settings from flags and the environment.
 * @param defaultDataDir the data folder when neither of them sets one
 * @throws ConfigError for an unknown or malformed setting
 */
export function readConfig(env: Environment, flags: Flags, defaultDataDir?: string) {
  const settings = createSettingReader(env, flags);
  const { read, parsed, number, choice, toggle } = settings;
  const address = readAddress(settings);
  const folders = readFolders(settings, env, defaultDataDir);
  const shared = readShared(settings, env);
  const registration = choice("CTXD_REGISTRATION", ["first", "open", "closed"], "first");
  const providers = readProviders(settings);
  return Object.freeze({
    ...address,
    ...folders,
    /** The database and object store that replicas share; null for a server that uses its data folder alone. */
    shared,
    /** Whose X-Forwarded-* headers are trusted: nobody's, everybody's, or those of these addresses. */
    trustProxy:
      parsed(
        "CTXD_TRUST_PROXY",
        parseProxies,
        "true, false, or the addresses and ranges of proxies such as 127.0.0.1,10.0.0.0/8",
      ) ?? false,
    allowHttp: toggle("CTXD_ALLOW_HTTP"),
    registration,
    providers,
    /** Whether users can sign in with a password. */
    passwords: readPasswords(settings, providers),
    rateLimit: choice("CTXD_RATE_LIMIT", ["on", "off"], "on") === "on",
    /** Scheduled backups: their folder, the milliseconds between two, and how many are kept. */
    backups: readBackups(settings, folders.dataDir, shared !== null),
    /** age recipients (`age1…`) that backups are encrypted for; none for unencrypted backups. */
    backupRecipients: readRecipients(settings),
    /** A folder or a name of the catalogue; null for the built-in model. */
    model: read("CTXD_MODEL") ?? null,
    /** Default quota of members; null for no quota. */
    memberQuota: readMemberQuota(settings, registration === "open"),
    /** Where to report vulnerabilities of this server: a `mailto:` or `https:` address. */
    securityContact: parsed(
      "CTXD_SECURITY_CONTACT",
      parseContact,
      "an e-mail address or an https address",
    ),
    /** Days that the security log keeps events. */
    securityLogDays: number("CTXD_SECURITY_LOG_DAYS", [1, 9999], " of days") ?? 90,
    decay: readDecay(settings),
    /** Bytes of memory for the data that searches read; null for the default. */
    memoryBytes: parsed(
      "CTXD_MEMORY_SIZE",
      (size) => (Number(parseBytes(size)) >= 10e6 ? parseBytes(size) : null),
      "bytes of at least 10M, such as 500M or 8G",
    ),
    /** The most embedding engines; null for as many as the machine allows. */
    engines: number("CTXD_ENGINES", [1, 64]),
    /** Address of the newest release, for `ctxd upgrade`; null for that of the build's repository. */
    releasesUrl: parsed(
      "CTXD_RELEASES_URL",
      (address) => (isSecureAddress(address) ? address : null),
      "an https address such as https://api.github.com/repos/OWNER/ctxd/releases/latest",
    ),
    logLevel: choice("CTXD_LOG_LEVEL", LOG_LEVELS, "info"),
    logFormat: choice("CTXD_LOG_FORMAT", ["text", "json"], "text"),
  });
}

/** The address that the server listens on, and the one that clients use. */
function readAddress({ read, fail, parsed, number }: SettingReader) {
  const host = read("CTXD_HOST") ?? "127.0.0.1";
  if (!/^[\w.:[\]-]{1,255}$/.test(host)) fail("CTXD_HOST", "a host name or an IP address");

  const port = number("CTXD_PORT", [0, 65_535]) ?? 7733;

  const cert = read("CTXD_TLS_CERT");
  const key = read("CTXD_TLS_KEY");
  if (cert && !key) fail("CTXD_TLS_CERT", "it together with CTXD_TLS_KEY");
  if (key && !cert) fail("CTXD_TLS_KEY", "it together with CTXD_TLS_CERT");

  const origin = parsed(
    "CTXD_PUBLIC_URL",
    parseOrigin,
    "an origin such as https://memory.example.com, without a path",
  );
  return {
    host,
    port,
    /** Origin that clients see, without a trailing slash. */
    publicUrl: origin ?? `${cert ? "https" : "http"}://localhost:${port}`,
    tls: cert && key ? { cert, key } : null,
  };
}

function readFolders({ read }: SettingReader, env: Environment, defaultDataDir?: string) {
  const dataDir = read("CTXD_DATA_DIR") ?? defaultDataDir ?? dataFolder(env);
  if (dataDir === null) {
    throw new ConfigError("There is no home folder: set CTXD_DATA_DIR or use --data-dir.");
  }
  const cacheDir = read("CTXD_CACHE_DIR") ?? cacheFolder(env) ?? join(dataDir, "cache");
  return {
    /** Absolute path of the folder with all data that must be kept. */
    dataDir: resolve(dataDir),
    /** Absolute path of the folder with files that can be created again: unpacked libraries and the model. */
    cacheDir: resolve(cacheDir),
  };
}

function readProviders({ read, fail }: SettingReader) {
  const client = (id: SettingName, secret: SettingName, first = id) => {
    const clientId = read(id);
    const clientSecret = read(secret);
    const given = [read(first), clientId, clientSecret].filter((value) => value !== undefined);
    if (given.length === 0) return null;
    if (clientId && clientSecret && read(first)) return { clientId, clientSecret };
    const names = [...new Set([first, id, secret])];
    throw new ConfigError(`${names.join(", ")} belong together: set all of them or none.`);
  };
  const issuer = read("CTXD_OIDC_ISSUER") ?? "";
  const oidc = client("CTXD_OIDC_CLIENT_ID", "CTXD_OIDC_CLIENT_SECRET", "CTXD_OIDC_ISSUER");
  if (oidc && !isSecureAddress(issuer)) {
    fail("CTXD_OIDC_ISSUER", "the https address of an OpenID provider");
  }
  const name = read("CTXD_OIDC_NAME") ?? URL.parse(issuer)?.host ?? "";
  if (name.length > 40) fail("CTXD_OIDC_NAME", "a name of at most 40 characters");
  return {
    github: client("CTXD_GITHUB_CLIENT_ID", "CTXD_GITHUB_CLIENT_SECRET"),
    google: client("CTXD_GOOGLE_CLIENT_ID", "CTXD_GOOGLE_CLIENT_SECRET"),
    /** Any OpenID provider. `name` is shown on the sign-in page. */
    oidc: oidc && { ...oidc, issuer, name },
  };
}

function readPasswords({ choice }: SettingReader, providers: Providers): boolean {
  const passwords = choice("CTXD_PASSWORDS", ["on", "off"], "on") === "on";
  if (passwords || Object.values(providers).some((provider) => provider !== null)) return passwords;
  throw new ConfigError(
    "CTXD_PASSWORDS=off needs another way to sign in: set up GitHub, Google or an OpenID provider.",
  );
}

function readBackups(
  { read, fail, parsed, number }: SettingReader,
  dataDir: string,
  isShared: boolean,
) {
  const every =
    parsed("CTXD_BACKUP_EVERY", parseSpan, "minutes, hours, days or weeks: 30m, 12h, 1d, 1w") ??
    24 * 3_600_000;
  const keep = number("CTXD_BACKUP_KEEP", [1, 9999]) ?? 7;
  const folder = read("CTXD_BACKUP_DIR");
  if (!folder) return null;
  if (isShared) {
    throw new ConfigError(
      "CTXD_BACKUP_DIR does not work with CTXD_DATABASE_URL: run ctxd backup by a timer instead.",
    );
  }
  if (`${resolve(folder)}${sep}`.startsWith(`${dataDir}${sep}`)) {
    fail("CTXD_BACKUP_DIR", "a folder outside the data folder, preferably on another disk");
  }
  return { folder: resolve(folder), every, keep };
}

function readRecipients({ read }: SettingReader): readonly string[] {
  const recipients = (read("CTXD_BACKUP_RECIPIENT") ?? "").split(/[\s,]+/).filter(Boolean);
  if (recipients.every((recipient) => /^age1[0-9a-z]{8,3000}$/.test(recipient))) return recipients;
  // The message does not repeat the value: it may be a secret key.
  throw new ConfigError(
    "CTXD_BACKUP_RECIPIENT is not valid: use age recipients (age1...), separated by commas.",
  );
}

/** @param isOpen whether anyone may sign up */
function readMemberQuota({ read, fail }: SettingReader, isOpen: boolean) {
  const fallback = isOpen ? "10000,20M" : "none";
  const quota = parseQuota(read("CTXD_MEMBER_QUOTA") ?? fallback);
  if (quota !== undefined) return quota;
  return fail("CTXD_MEMBER_QUOTA", "memories and bytes such as 10000 or 10000,20M, or none");
}

function readDecay({ read, fail }: SettingReader): Decay {
  const depth = read("CTXD_DECAY_DEPTH") ?? `${DEFAULT_DECAY.depth}`;
  if (!/^(0|1|0?\.\d{1,6})$/.test(depth)) fail("CTXD_DECAY_DEPTH", "a number from 0 to 1");

  const halfLife = read("CTXD_HALF_LIFE") ?? DEFAULT_DECAY.halfLifeDays.join("-");
  const [, least = 0, most = 0] = /^(\d{1,5})-(\d{1,5})$/.exec(halfLife)?.map(Number) ?? [];
  if (least < 1 || most < least) {
    fail("CTXD_HALF_LIFE", "two whole numbers of days such as 30-480, the smaller one first");
  }
  return { depth: Number(depth), halfLifeDays: [least, most] };
}
