import { CtxdError } from "./errors.ts";

/** A setting is wrong. `message` is the one line that the user sees. */
export class ConfigError extends CtxdError {
  override readonly name = "ConfigError";
  readonly code = "invalid_setting";
}

/** The environment of a process, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Flags of the command line, by the name of the setting they stand for; they win over the environment. */
export type Flags = Partial<Record<SettingName, string>>;

/** Every setting with its meaning, in the order of the manual. `flag` is set where one exists. */
export const SETTINGS = {
  CTXD_HOST: { flag: "--host", meaning: "address to listen on (127.0.0.1)" },
  CTXD_PORT: { flag: "--port", meaning: "port to listen on (7733)" },
  CTXD_DATA_DIR: { flag: "--data-dir", meaning: "folder of everything that must be kept" },
  CTXD_CACHE_DIR: { flag: null, meaning: "folder of unpacked libraries and the model" },
  CTXD_DATABASE_URL: {
    flag: null,
    meaning:
      "PostgreSQL that several replicas share: postgres://USER:PASSWORD@HOST/DATABASE (none)",
  },
  CTXD_OBJECTS: {
    flag: null,
    meaning: "goes with CTXD_DATABASE_URL: s3://BUCKET/PREFIX, with the usual AWS_* variables",
  },
  CTXD_CACHE_SIZE: {
    flag: null,
    meaning: "bytes that copies of their objects may take in the data folder (10G)",
  },
  CTXD_DRAIN_SECONDS: {
    flag: null,
    meaning: "seconds for which a replica answers on after SIGTERM, for load balancers (5)",
  },
  CTXD_MEMORY_SIZE: {
    flag: null,
    meaning: "bytes of memory for what searches read, of all accounts together (1G)",
  },
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
  CTXD_MODEL: { flag: null, meaning: "another model: a name of ctxd model list, or a folder" },
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
  CTXD_RELEASES_URL: {
    flag: null,
    meaning:
      "where ctxd upgrade --check asks for the newest release (that of the build's repository)",
  },
  CTXD_LOG_LEVEL: { flag: null, meaning: "debug, info, warn, error or silent (info)" },
  CTXD_LOG_FORMAT: { flag: null, meaning: "text or json (text)" },
} as const;
export type SettingName = keyof typeof SETTINGS;

/** What starts the executable for a way to install it says so by this name; it is no setting of a person's. */
export const INSTALLED_BY = "CTXD_INSTALLED_BY";

/** Reads settings by their names. */
export type SettingReader = ReturnType<typeof createSettingReader>;

/**
 * Reads settings from flags and environment, as texts. An empty value counts as not set.
 * @throws ConfigError for a name that no setting has
 */
export function createSettingReader(env: Environment, flags: Flags) {
  for (const name of Object.keys(env)) {
    if (name.startsWith("CTXD_") && !(name in SETTINGS) && name !== INSTALLED_BY) {
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

  return {
    /** A setting as it stands there. */
    read,
    /** @throws ConfigError that says what is allowed */
    fail,
    /** One of these words. @throws ConfigError */
    choice,
    /** A switch that is off unless it is set. @throws ConfigError */
    toggle: (name: SettingName) => choice(name, ["true", "false"], "false") === "true",

    /** A whole number from 1 to 9999. @param unit what is counted, as in "days" @throws ConfigError */
    count(name: SettingName, fallback: number, unit?: string): number {
      const value = read(name) ?? `${fallback}`;
      const number = unit === undefined ? "number" : `number of ${unit}`;
      return /^[1-9]\d{0,3}$/.test(value)
        ? Number(value)
        : fail(name, `a whole ${number} from 1 to 9999`);
    },
  };
}
