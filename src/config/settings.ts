import { CtxdError } from "../errors.ts";

/** A setting is invalid. `message` is the only line that the user sees. */
export class ConfigError extends CtxdError {
  readonly code = "invalid_setting";
}

/** The environment of a process, by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Command-line flags, by the name of their setting. They override the environment. */
export type Flags = Partial<Record<SettingName, string>>;

/** The meaning of each setting, in the order of the manual. */
export const SETTINGS = {
  CTXD_HOST: "address to listen on (127.0.0.1)",
  CTXD_PORT: "port to listen on, 0 for any free one (7733)",
  CTXD_DATA_DIR: "folder of all data that must be kept",
  CTXD_CACHE_DIR: "folder of unpacked libraries and the model",
  CTXD_DATABASE_URL:
    "PostgreSQL that several replicas share: postgres://USER:PASSWORD@HOST/DATABASE (none)",
  CTXD_OBJECTS:
    "object store, required with CTXD_DATABASE_URL: s3://BUCKET/PREFIX, with the usual AWS_* variables",
  CTXD_CACHE_SIZE: "bytes that local copies of the objects may take in the data folder (10G)",
  CTXD_DRAIN_SECONDS:
    "seconds that a replica keeps answering after SIGTERM, for load balancers (5)",
  CTXD_MEMORY_SIZE:
    "bytes of memory for the data that searches read, of all accounts together (1G)",
  CTXD_ENGINES:
    "embedding engines at most, while many texts wait (one, and one for each core, as memory allows)",
  CTXD_PUBLIC_URL: "origin that clients see (http://localhost:PORT)",
  CTXD_TLS_CERT: "certificate file in PEM format, to serve HTTPS; read again when it changes",
  CTXD_TLS_KEY: "private key file in PEM format, to serve HTTPS",
  CTXD_TRUST_PROXY:
    "trust X-Forwarded-* headers: true, or the addresses of trusted proxies (false)",
  CTXD_ALLOW_HTTP: "allow plain HTTP under names other than localhost (false)",
  CTXD_REGISTRATION: "who may sign up: first, open or closed (first)",
  CTXD_GITHUB_CLIENT_ID: "to sign in with GitHub",
  CTXD_GITHUB_CLIENT_SECRET: "required with CTXD_GITHUB_CLIENT_ID",
  CTXD_GOOGLE_CLIENT_ID: "to sign in with Google",
  CTXD_GOOGLE_CLIENT_SECRET: "required with CTXD_GOOGLE_CLIENT_ID",
  CTXD_OIDC_ISSUER: "to sign in with this OpenID provider",
  CTXD_OIDC_CLIENT_ID: "required with CTXD_OIDC_ISSUER",
  CTXD_OIDC_CLIENT_SECRET: "required with CTXD_OIDC_ISSUER",
  CTXD_OIDC_NAME: "name of that provider on the sign-in page (its host)",
  CTXD_PASSWORDS: "on, or off to sign in only through a provider (on)",
  CTXD_RATE_LIMIT: "on, or off for trusted networks; password attempts stay limited (on)",
  CTXD_BACKUP_DIR: "folder for scheduled backups, which several servers may share (none)",
  CTXD_BACKUP_RECIPIENT: "encrypt backups for these age recipients: age1... (none)",
  CTXD_BACKUP_EVERY: "time between two backups: 30m, 12h, 1d, 1w (24h)",
  CTXD_BACKUP_KEEP: "number of scheduled backups that are kept (7)",
  CTXD_MODEL: "another model: a name that ctxd model list prints, or a folder",
  CTXD_MODEL_SOURCE: "at build time: a folder with the model's files",
  CTXD_DECAY_DEPTH: "share of its score that a memory loses with age, 0 for none (0.25)",
  CTXD_HALF_LIFE: "days until half of that share is lost, at importance 0 and at 1 (30-480)",
  CTXD_MEMBER_QUOTA:
    "quota of each member, as memories or memories,bytes: 10000 or 10000,20M, or none (10000,20M if anyone may sign up, else none)",
  CTXD_SECURITY_CONTACT:
    "where to report vulnerabilities: an e-mail or https address, for security.txt (none)",
  CTXD_SECURITY_LOG_DAYS: "days that the security log keeps events (90)",
  CTXD_RELEASES_URL:
    "address of the newest release, for ctxd upgrade (that of the build's repository)",
  CTXD_LOG_LEVEL: "debug, info, warn, error or silent (info)",
  CTXD_LOG_FORMAT: "text or json (text)",
} as const;
export type SettingName = keyof typeof SETTINGS;

/** The settings with a command-line flag. */
export const FLAGS: Partial<Record<SettingName, string>> = {
  CTXD_HOST: "--host",
  CTXD_PORT: "--port",
  CTXD_DATA_DIR: "--data-dir",
};

/** Packages set this variable when they start the executable, to their own name. It is not a setting for users. */
export const INSTALLED_BY = "CTXD_INSTALLED_BY";

/** Reads and checks single settings. */
export type SettingReader = ReturnType<typeof createSettingReader>;

/**
 * Reads settings from flags and the environment. An empty value counts as not set.
 * @throws ConfigError for an unknown name that begins with CTXD_
 */
export function createSettingReader(env: Environment, flags: Flags) {
  for (const name of Object.keys(env)) {
    if (name.startsWith("CTXD_") && !(name in SETTINGS) && name !== INSTALLED_BY) {
      throw new ConfigError(`Unknown setting ${name}: ctxd help serve lists all settings.`);
    }
  }
  const read = (name: SettingName) => flags[name] || env[name] || undefined;
  const fail = (name: SettingName, allowed: string): never => {
    const label = flags[name] ? FLAGS[name] : name;
    throw new ConfigError(`${label}=${JSON.stringify(read(name))} is not valid: use ${allowed}.`);
  };
  const choice = <T extends string>(name: SettingName, values: readonly T[], fallback: T): T => {
    const value = read(name) ?? fallback;
    return values.find((allowed) => allowed === value) ?? fail(name, values.join(", "));
  };

  return {
    /** The text of a setting; undefined when it is not set. */
    read,
    /** @throws ConfigError that says which values are allowed */
    fail,
    /** One of several words. @throws ConfigError */
    choice,
    /**
     * What `parse` makes of a setting; null if it is not set.
     * @param parse gives null for a text that is not `allowed`
     * @throws ConfigError
     */
    parsed<T>(name: SettingName, parse: (text: string) => T | null, allowed: string): T | null {
      const text = read(name);
      return text === undefined ? null : (parse(text) ?? fail(name, allowed));
    },

    /** `true` or `false`, which is the default. @throws ConfigError */
    toggle: (name: SettingName) => choice(name, ["true", "false"], "false") === "true",

    /**
     * A whole number from `min` to `max`; null if it is not set.
     * @param note what follows "a whole number" in the message, such as " of days"
     * @throws ConfigError
     */
    number(name: SettingName, [min, max]: readonly [min: number, max: number], note = "") {
      const text = read(name);
      if (text === undefined) return null;
      const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return number >= min && number <= max
        ? number
        : fail(name, `a whole number${note} from ${min} to ${max}`);
    },
  };
}
