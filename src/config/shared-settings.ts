import { parseBytes } from "./setting-values.ts";
import { ConfigError, type Environment, type SettingReader } from "./settings.ts";

/** The database and object store that several replicas share, and settings of each replica. */
export type SharedSettings = NonNullable<ReturnType<typeof readShared>>;

/** Address of an object store and the credentials for it. */
export type ObjectSettings = SharedSettings["objects"];

/** Standard environment variables of AWS for an object store. */
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

/** Bucket names that every store accepts: Amazon S3 user guide, "Bucket naming rules". */
const BUCKET = /^[a-z0-9](?:[a-z0-9.-]{1,61})[a-z0-9]$/;
const PREFIX = /^[\w-][\w.-]*(?:\/[\w-][\w.-]*)*$/;

/**
 * Reads the settings that replicas share; null for a single server.
 * @throws ConfigError when only some of them are set or one is malformed; the message contains no secret
 */
export function readShared(settings: SettingReader, env: Environment) {
  const { read, parsed, number } = settings;
  const cacheBytes = parsed("CTXD_CACHE_SIZE", parseBytes, "bytes such as 500M, 10G or 1T") ?? 10e9;
  const drainSeconds = number("CTXD_DRAIN_SECONDS", [0, 300], " of seconds") ?? 5;
  const databaseUrl = read("CTXD_DATABASE_URL");
  const objects = read("CTXD_OBJECTS");
  if (databaseUrl === undefined && objects === undefined) return null;
  if (databaseUrl === undefined || objects === undefined) {
    throw new ConfigError(
      "CTXD_DATABASE_URL and CTXD_OBJECTS belong together: set both or neither.",
    );
  }
  checkDatabaseUrl(databaseUrl);
  return Object.freeze({
    /** `postgres://…` with the password. Use it only to connect. */
    databaseUrl,
    objects: Object.freeze({ ...readPlace(settings, objects), ...readAws(env) }),
    /** Seconds that a replica keeps answering after SIGTERM, so that load balancers notice. */
    drainSeconds,
    /** Maximum bytes of the local copies of bases. */
    cacheBytes,
  });
}

/** The messages do not repeat the value, because it contains a password. */
function checkDatabaseUrl(value: string): void {
  const url = /\s/.test(value) ? null : URL.parse(value);
  const isPostgres = url !== null && /^postgres(ql)?:$/.test(url.protocol);
  if (!isPostgres || url.hostname === "" || !/^\/[^/]+$/.test(url.pathname) || url.hash !== "") {
    throw new ConfigError(
      "CTXD_DATABASE_URL is not valid: use an address such as postgres://USER:PASSWORD@HOST:5432/DATABASE?sslmode=verify-full, with characters such as @ and / in the password percent-encoded.",
    );
  }
  const mode = url.searchParams.get("sslmode");
  if (mode === null || SSL_MODES.includes(mode)) return;
  throw new ConfigError(
    `CTXD_DATABASE_URL is not valid: use an sslmode of ${SSL_MODES.join(", ")}.`,
  );
}

/** The bucket, and the prefix of all object names, without a slash at either end; it may be empty. */
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
    /** Address of an S3-compatible store, with its path if it has one; null for AWS. */
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
