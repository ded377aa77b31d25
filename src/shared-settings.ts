import { parseBytes } from "./setting-values.ts";
import { ConfigError, type Environment, type SettingReader } from "./settings.ts";

/** What several replicas share, and what each may keep of it on its own disk. */
export interface SharedSettings {
  /** `postgres://…` as it was given, with the password: for the connection alone. */
  readonly databaseUrl: string;
  readonly objects: ObjectSettings;
  /** Seconds for which a replica that is told to stop answers on, so that load balancers notice. */
  readonly drainSeconds: number;
  /** Bytes that the local copies of bases may take. */
  readonly cacheBytes: number;
}

/** Where an object store is, and who asks it. */
export interface ObjectSettings {
  readonly bucket: string;
  /** What all names of objects begin with, without a slash at either end; may be empty. */
  readonly prefix: string;
  /** Origin of an S3-compatible store, with its path if it has one; null for that of AWS. */
  readonly endpoint: string | null;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** Settings of an object store that every program of AWS knows by these names. */
export const AWS_SETTINGS = [
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "AWS_REGION",
  "AWS_DEFAULT_REGION",
  "AWS_ENDPOINT_URL",
  "AWS_ENDPOINT_URL_S3",
] as const;

const SSL_MODES = ["disable", "prefer", "require", "verify-ca", "verify-full"];

/** Amazon S3 user guide, "Bucket naming rules": what every store accepts. */
const BUCKET = /^[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/;
const PREFIX = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/**
 * Reads what several replicas share; null for a server of its own.
 * @throws ConfigError when only a part of it is set, or something is malformed; it repeats no secret
 */
export function readShared(settings: SettingReader, env: Environment): SharedSettings | null {
  const { read } = settings;
  const cacheBytes = readCacheSize(settings);
  const drainSeconds = readDrain(settings);
  const databaseUrl = read("CTXD_DATABASE_URL");
  const objects = read("CTXD_OBJECTS");
  if (databaseUrl === undefined && objects === undefined) return null;
  if (databaseUrl === undefined || objects === undefined) {
    throw new ConfigError(
      "CTXD_DATABASE_URL and CTXD_OBJECTS go together: set both of them, or none.",
    );
  }
  checkDatabaseUrl(databaseUrl);
  return Object.freeze({
    databaseUrl,
    objects: Object.freeze({ ...readPlace(settings, objects), ...readAws(env) }),
    drainSeconds,
    cacheBytes,
  });
}

function readCacheSize({ read, fail }: SettingReader): number {
  const bytes = parseBytes(read("CTXD_CACHE_SIZE") ?? "10G");
  return bytes || fail("CTXD_CACHE_SIZE", "bytes such as 500M, 10G or 1T");
}

function readDrain({ read, fail }: SettingReader): number {
  const seconds = read("CTXD_DRAIN_SECONDS") ?? "5";
  if (/^\d{1,3}$/.test(seconds) && Number(seconds) <= 300) return Number(seconds);
  return fail("CTXD_DRAIN_SECONDS", "a whole number of seconds from 0 to 300");
}

/** Its value is in no message: there is a password in it. */
function checkDatabaseUrl(value: string): void {
  const url = /\s/.test(value) ? null : URL.parse(value);
  const isPostgres = url !== null && /^postgres(ql)?:$/.test(url.protocol);
  if (!isPostgres || url.hostname === "" || !/^\/[^/]+$/.test(url.pathname) || url.hash !== "") {
    throw new ConfigError(
      "CTXD_DATABASE_URL is not valid: use an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full, with signs such as @ and / in the password percent-encoded.",
    );
  }
  const mode = url.searchParams.get("sslmode");
  if (mode === null || SSL_MODES.includes(mode)) return;
  throw new ConfigError(
    `CTXD_DATABASE_URL is not valid: use an sslmode of ${SSL_MODES.join(", ")}.`,
  );
}

function readPlace({ fail }: SettingReader, value: string) {
  const [, bucket = "", prefix = ""] = /^s3:\/\/([^/]*)\/?(.*?)\/?$/.exec(value) ?? [];
  if (!BUCKET.test(bucket) || (prefix !== "" && !PREFIX.test(prefix)) || prefix.length > 200) {
    fail("CTXD_OBJECTS", "a bucket and a prefix of letters and digits, s3://BUCKET/PREFIX");
  }
  return { bucket, prefix };
}

function readAws(env: Environment) {
  const accessKeyId = env.AWS_ACCESS_KEY_ID;
  const secretAccessKey = env.AWS_SECRET_ACCESS_KEY;
  if (!accessKeyId || !secretAccessKey) {
    throw new ConfigError("CTXD_OBJECTS needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.");
  }
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || null;
  return {
    endpoint: endpoint && readEndpoint(endpoint),
    region: env.AWS_REGION || env.AWS_DEFAULT_REGION || "us-east-1",
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || null,
  };
}

function readEndpoint(value: string): string {
  const url = URL.parse(value);
  const isPlain = url && url.search + url.hash + url.username + url.password === "";
  if (isPlain && /^https?:$/.test(url.protocol)) return url.href.replace(/\/$/, "");
  throw new ConfigError(
    "AWS_ENDPOINT_URL is not valid: use the address of the object store, such as https://s3.example.com.",
  );
}
