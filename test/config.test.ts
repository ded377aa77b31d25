import { describe, expect, test } from "bun:test";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { type Config, readConfig } from "../src/config/config.ts";
import { ConfigError, type Flags, SETTINGS } from "../src/config/settings.ts";

type Settings = Record<string, string>;

/** The message with which these settings are refused. */
function refusal(env: Settings, flags: Flags = {}): string {
  try {
    readConfig(env, flags);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the settings were accepted");
}

test("every setting has a default", () => {
  expect(readConfig({ HOME: "/home/you" }, {})).toEqual({
    host: "127.0.0.1",
    port: 7733,
    dataDir: "/home/you/.local/share/ctxd",
    cacheDir: "/home/you/.cache/ctxd",
    shared: null,
    publicUrl: "http://localhost:7733",
    tls: null,
    trustProxy: false,
    allowHttp: false,
    registration: "first",
    providers: { github: null, google: null, oidc: null },
    passwords: true,
    rateLimit: true,
    backups: null,
    backupRecipients: [],
    model: null,
    memberQuota: null,
    engines: null,
    securityContact: null,
    securityLogDays: 90,
    decay: { depth: 0.25, halfLifeDays: [30, 480] },
    memoryBytes: null,
    releasesUrl: null,
    logLevel: "info",
    logFormat: "text",
  });
});

test("the settings are frozen", () => {
  expect(Object.isFrozen(readConfig({ HOME: "/home/you" }, {}))).toBe(true);
});

const ACCEPTED: [env: Settings, expected: Partial<Config>][] = [
  [{ CTXD_HOST: "0.0.0.0" }, { host: "0.0.0.0" }],
  [{ CTXD_HOST: "::1" }, { host: "::1" }],
  [{ CTXD_HOST: "memory.example.com" }, { host: "memory.example.com" }],
  [{ CTXD_PORT: "0" }, { port: 0, publicUrl: "http://localhost:0" }],
  [{ CTXD_PORT: "65535" }, { port: 65_535, publicUrl: "http://localhost:65535" }],
  [{ CTXD_DATA_DIR: "/srv/ctxd/" }, { dataDir: "/srv/ctxd" }],
  [{ CTXD_DATA_DIR: "data" }, { dataDir: resolve("data") }],
  [{ CTXD_CACHE_DIR: "/var/cache/ctxd" }, { cacheDir: "/var/cache/ctxd" }],
  [{ CTXD_PUBLIC_URL: "https://m.example.com" }, { publicUrl: "https://m.example.com" }],
  [{ CTXD_PUBLIC_URL: "https://M.example.com:443/" }, { publicUrl: "https://m.example.com" }],
  [{ CTXD_PUBLIC_URL: "http://[::1]:8080" }, { publicUrl: "http://[::1]:8080" }],
  [
    { CTXD_TLS_CERT: "cert.pem", CTXD_TLS_KEY: "key.pem" },
    { tls: { cert: "cert.pem", key: "key.pem" }, publicUrl: "https://localhost:7733" },
  ],
  [{ CTXD_TRUST_PROXY: "true" }, { trustProxy: true }],
  [{ CTXD_TRUST_PROXY: "false" }, { trustProxy: false }],
  [{ CTXD_ALLOW_HTTP: "true" }, { allowHttp: true }],
  [{ CTXD_REGISTRATION: "closed" }, { registration: "closed" }],
  [
    { CTXD_GITHUB_CLIENT_ID: "a", CTXD_GITHUB_CLIENT_SECRET: "b" },
    { providers: { github: { clientId: "a", clientSecret: "b" }, google: null, oidc: null } },
  ],
  [
    {
      CTXD_OIDC_ISSUER: "https://id.example.com/realms/x",
      CTXD_OIDC_CLIENT_ID: "a",
      CTXD_OIDC_CLIENT_SECRET: "b",
    },
    {
      providers: {
        github: null,
        google: null,
        oidc: {
          clientId: "a",
          clientSecret: "b",
          issuer: "https://id.example.com/realms/x",
          name: "id.example.com",
        },
      },
    },
  ],
  [{ CTXD_RATE_LIMIT: "off" }, { rateLimit: false }],
  [
    { CTXD_BACKUP_DIR: "/backups" },
    { backups: { folder: "/backups", every: 24 * 3_600_000, keep: 7 } },
  ],
  [
    { CTXD_BACKUP_DIR: "/backups", CTXD_BACKUP_EVERY: "30m", CTXD_BACKUP_KEEP: "2" },
    { backups: { folder: "/backups", every: 30 * 60_000, keep: 2 } },
  ],
  [{ CTXD_BACKUP_EVERY: "1w" }, {}],
  [{ CTXD_MODEL: "/models/mine" }, { model: "/models/mine" }],
  [{ CTXD_DECAY_DEPTH: "0" }, { decay: { depth: 0, halfLifeDays: [30, 480] } }],
  [{ CTXD_DECAY_DEPTH: ".5" }, { decay: { depth: 0.5, halfLifeDays: [30, 480] } }],
  [{ CTXD_MEMORY_SIZE: "8G" }, { memoryBytes: 8e9 }],
  [{ CTXD_ENGINES: "1" }, { engines: 1 }],
  [{ CTXD_ENGINES: "64" }, { engines: 64 }],
  [{ CTXD_HALF_LIFE: "7-7" }, { decay: { depth: 0.25, halfLifeDays: [7, 7] } }],
  [
    { CTXD_REGISTRATION: "open" },
    { registration: "open", memberQuota: { memories: 10_000, bytes: 20_000_000 } },
  ],
  [{ CTXD_REGISTRATION: "open", CTXD_MEMBER_QUOTA: "none" }, { registration: "open" }],
  [{ CTXD_MEMBER_QUOTA: "500" }, { memberQuota: { memories: 500, bytes: null } }],
  [{ CTXD_MEMBER_QUOTA: "500,1k" }, { memberQuota: { memories: 500, bytes: 1_000 } }],
  [{ CTXD_SECURITY_CONTACT: "me@example.com" }, { securityContact: "mailto:me@example.com" }],
  [{ CTXD_SECURITY_CONTACT: "https://x.com/r" }, { securityContact: "https://x.com/r" }],
  [{ CTXD_SECURITY_LOG_DAYS: "365" }, { securityLogDays: 365 }],
  [{ CTXD_LOG_LEVEL: "silent" }, { logLevel: "silent" }],
  [{ CTXD_LOG_FORMAT: "json" }, { logFormat: "json" }],
  [{ CTXD_MODEL_SOURCE: "/models" }, {}],
  [{ PATH: "/bin", XCTXD_PORT: "x" }, {}],
];

test.each(ACCEPTED)("%j is accepted", (env, expected) => {
  const defaults = readConfig({ HOME: "/home/you" }, {});
  expect(readConfig({ HOME: "/home/you", ...env }, {})).toEqual({ ...defaults, ...expected });
});

const REFUSED: [name: string, values: string[], allowed: string][] = [
  ["CTXD_HOST", ["a b", "http://x", "x/y", "\u0000"], "a host name or an IP address"],
  ["CTXD_PORT", ["http", "65536", "-1", "80.5", "1e3", "0x50", " 80", "80 "], "0 to 65535"],
  [
    "CTXD_PUBLIC_URL",
    ["m.example.com", "ftp://x", "https://x/path", "https://x/?q", "https://a:b@x", "https://x#"],
    "an origin such as https://memory.example.com",
  ],
  ["CTXD_TLS_CERT", ["cert.pem"], "together with CTXD_TLS_KEY"],
  ["CTXD_TLS_KEY", ["key.pem"], "together with CTXD_TLS_CERT"],
  ["CTXD_TRUST_PROXY", ["yes", "1", "TRUE"], "true, false"],
  ["CTXD_ALLOW_HTTP", ["on"], "true, false"],
  ["CTXD_REGISTRATION", ["anyone"], "first, open, closed"],
  ["CTXD_RATE_LIMIT", ["true", "none"], "on, off"],
  ["CTXD_BACKUP_DIR", ["/home/you/.local/share/ctxd/backups"], "outside the data folder"],
  ["CTXD_BACKUP_EVERY", ["0h", "24", "1y", "daily", "1.5h", "-1h", "12 h"], "30m, 12h, 1d, 1w"],
  ["CTXD_BACKUP_KEEP", ["0", "-1", "1.5", "all", "10000"], "from 1 to 9999"],
  ["CTXD_DECAY_DEPTH", ["1.1", "-0.1", " ", "half", "25%", "."], "a number from 0 to 1"],
  ["CTXD_HALF_LIFE", ["30", "480-30", "0-30", "1.5-3", "30 - 480"], "such as 30-480"],
  ["CTXD_MEMORY_SIZE", ["9M", "0", "1.5G", "8 GB", "-1"], "bytes of at least 10M"],
  ["CTXD_ENGINES", ["0", "65", "-1", "1.5", "all"], "a whole number from 1 to 64"],
  ["CTXD_MEMBER_QUOTA", ["-1", "1.5", "10,", ",5M", "10000 20M", "all", "1,2T"], "or none"],
  [
    "CTXD_SECURITY_CONTACT",
    ["http://x.com", "you", "a@b\nContact: mailto:evil@x.com", "https://a b", "tel:1", "a@b c"],
    "an https address",
  ],
  ["CTXD_SECURITY_LOG_DAYS", ["0", "-1", "90d", "1.5", "10000"], "days from 1 to 9999"],
  [
    "CTXD_RELEASES_URL",
    ["github.com/OWNER/ctxd", "http://example.com/releases", "https://x/?q", "file:///srv"],
    "an https address such as",
  ],
  ["CTXD_LOG_LEVEL", ["trace", "INFO"], "debug, info, warn, error, silent"],
  ["CTXD_LOG_FORMAT", ["xml"], "text, json"],
];

test.each(REFUSED.flatMap(([name, values, allowed]) => values.map((v) => [name, v, allowed])))(
  "%s=%j is refused in one line with what is allowed",
  (name, value, allowed) => {
    const message = refusal({ HOME: "/home/you", [name]: value });
    expect(message).toStartWith(`${name}=${JSON.stringify(value)} is not valid: use `);
    expect(message).toContain(allowed);
    expect(message).not.toContain("\n");
  },
);

test.each<Settings>([
  { CTXD_GITHUB_CLIENT_ID: "a" },
  { CTXD_GOOGLE_CLIENT_SECRET: "b" },
  { CTXD_OIDC_CLIENT_ID: "a", CTXD_OIDC_CLIENT_SECRET: "b" },
  { CTXD_OIDC_ISSUER: "https://id.example.com", CTXD_OIDC_CLIENT_ID: "a" },
])("%j is refused: these settings belong together", (env) => {
  const message = refusal({ HOME: "/home/you", ...env });
  for (const name of Object.keys(env)) expect(message).toContain(name);
  expect(message).toContain("belong together");
});

test.each(["id.example.com", "http://id.example.com", "https://x/?q", "https://a:b@x", "ftp://x"])(
  "the issuer %s is refused",
  (CTXD_OIDC_ISSUER) => {
    const client = { CTXD_OIDC_CLIENT_ID: "a", CTXD_OIDC_CLIENT_SECRET: "b" };
    expect(refusal({ HOME: "/home/you", CTXD_OIDC_ISSUER, ...client })).toContain(
      "is not valid: use the https address of an OpenID provider",
    );
  },
);

test("an unknown setting is refused, and the refusal says where all settings are", () => {
  expect(refusal({ CTXD_PROT: "80" })).toBe(
    "Unknown setting CTXD_PROT: ctxd help serve lists all settings.",
  );
});

test("CTXD_INSTALLED_BY may have any value", () => {
  const env = { HOME: "/home/you", CTXD_INSTALLED_BY: "a later way" };
  expect(readConfig(env, {})).toEqual(readConfig({ HOME: "/home/you" }, {}));
});

test.each(["CTXD_", "CTXD_port", "CTXD_toString", "CTXD_CONSTRUCTOR"])(
  "%s is an unknown setting",
  (name) => expect(refusal({ [name]: "" })).toStartWith(`Unknown setting ${name}: `),
);

test("an empty value counts as not set", () => {
  const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, ""]));
  const defaults = readConfig({ HOME: "/home/you" }, {});
  expect(readConfig({ HOME: "/home/you", ...empty }, {})).toEqual(defaults);
});

describe("flags", () => {
  test("override the environment", () => {
    const env = { HOME: "/home/you", CTXD_HOST: "::1", CTXD_PORT: "1", CTXD_DATA_DIR: "/env" };
    const flags = { CTXD_HOST: "localhost", CTXD_PORT: "2", CTXD_DATA_DIR: "/flag" };
    expect(readConfig(env, flags)).toMatchObject({ host: "localhost", port: 2, dataDir: "/flag" });
    expect(readConfig({ ...env, CTXD_PORT: "bad" }, flags).port).toBe(2);
  });

  test("are named as flags in error messages", () => {
    const message = refusal({ HOME: "/home/you", CTXD_PORT: "80" }, { CTXD_PORT: "many" });
    expect(message).toStartWith('--port="many" is not valid: use a whole number');
  });
});

describe("folders", () => {
  test("follow the XDG base directory specification", () => {
    const env = { HOME: "/home/you", XDG_DATA_HOME: "/xdg/data", XDG_CACHE_HOME: "/xdg/cache" };
    const { dataDir, cacheDir } = readConfig(env, {});
    expect({ dataDir, cacheDir }).toEqual({
      dataDir: "/xdg/data/ctxd",
      cacheDir: "/xdg/cache/ctxd",
    });
  });

  test("ignore a relative or empty XDG folder", () => {
    const env = { HOME: "/home/you", XDG_DATA_HOME: "data", XDG_CACHE_HOME: "" };
    const { dataDir, cacheDir } = readConfig(env, {});
    expect(dataDir).toBe("/home/you/.local/share/ctxd");
    expect(cacheDir).toBe("/home/you/.cache/ctxd");
  });

  test("of a checkout override those of the user, and settings override both", () => {
    const env = { HOME: "/home/you", XDG_DATA_HOME: "/xdg" };
    expect(readConfig(env, {}, "/checkout/data").dataDir).toBe("/checkout/data");
    expect(readConfig({ ...env, CTXD_DATA_DIR: "/env" }, {}, "/checkout/data").dataDir).toBe(
      "/env",
    );
  });

  test("are found without HOME", () => {
    expect(readConfig({}, {}).dataDir).toBe(join(homedir(), ".local", "share", "ctxd"));
  });
});
