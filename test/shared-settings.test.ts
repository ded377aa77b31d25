import { describe, expect, test } from "bun:test";
import { readConfig } from "../src/config/config.ts";
import { ConfigError } from "../src/config/settings.ts";

type Settings = Record<string, string>;

const HOME = { HOME: "/home/you" };
const DATABASE = "postgres://ctxd:secret-1@db.example.com:5432/ctxd?sslmode=verify-full";
const KEYS = { AWS_ACCESS_KEY_ID: "AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY: "secret-2" };
const WHOLE = { CTXD_DATABASE_URL: DATABASE, CTXD_OBJECTS: "s3://memories/team-1", ...KEYS };

const shared = (env: Settings) => readConfig({ ...HOME, ...env }, {}).shared;

function refusal(env: Settings): string {
  try {
    shared(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
  throw new Error("the settings were accepted");
}

test("without both settings, AWS variables alone make no replica", () => {
  expect(shared({ ...KEYS, CTXD_CACHE_SIZE: "5G" })).toBeNull();
  expect(shared({ CTXD_DATABASE_URL: "", CTXD_OBJECTS: "" })).toBeNull();
});

test("a database and an object store make a replica", () => {
  expect(shared(WHOLE)).toEqual({
    databaseUrl: DATABASE,
    objects: {
      bucket: "memories",
      prefix: "team-1",
      endpoint: null,
      region: "us-east-1",
      accessKeyId: "AKIDEXAMPLE",
      secretAccessKey: "secret-2",
      sessionToken: null,
    },
    drainSeconds: 5,
    cacheBytes: 10e9,
  });
});

test.each<[Settings, object]>([
  [{ CTXD_OBJECTS: "s3://memories" }, { bucket: "memories", prefix: "" }],
  [{ CTXD_OBJECTS: "s3://memories/" }, { bucket: "memories", prefix: "" }],
  [{ CTXD_OBJECTS: "s3://m.1-a/a/b.c/" }, { bucket: "m.1-a", prefix: "a/b.c" }],
  [{ AWS_REGION: "eu-central-1", AWS_DEFAULT_REGION: "x" }, { region: "eu-central-1" }],
  [{ AWS_DEFAULT_REGION: "eu-west-1" }, { region: "eu-west-1" }],
  [{ AWS_SESSION_TOKEN: "t" }, { sessionToken: "t" }],
  [{ AWS_ENDPOINT_URL: "http://localhost:9000/" }, { endpoint: "http://localhost:9000" }],
  [
    { AWS_ENDPOINT_URL: "http://all.example.com", AWS_ENDPOINT_URL_S3: "https://s3.example.com/x" },
    { endpoint: "https://s3.example.com/x" },
  ],
])("%j is accepted", (env, expected) => {
  expect(shared({ ...WHOLE, ...env })?.objects).toMatchObject(expected);
});

test.each([
  ["1", 1],
  ["500M", 500e6],
  ["2T", 2e12],
])("a cache size of %s is %d bytes", (text, bytes) => {
  expect(shared({ ...WHOLE, CTXD_CACHE_SIZE: text })?.cacheBytes).toBe(bytes);
});

describe("an invalid setting is refused in one line that names it", () => {
  const without = (name: keyof typeof WHOLE) => ({ ...WHOLE, [name]: "" });
  test.each<[Settings, string]>([
    [without("CTXD_DATABASE_URL"), "CTXD_DATABASE_URL and CTXD_OBJECTS belong together"],
    [without("CTXD_OBJECTS"), "CTXD_DATABASE_URL and CTXD_OBJECTS belong together"],
    [without("AWS_ACCESS_KEY_ID"), "CTXD_OBJECTS needs AWS_ACCESS_KEY_ID"],
    [without("AWS_SECRET_ACCESS_KEY"), "and AWS_SECRET_ACCESS_KEY"],
    [{ ...WHOLE, AWS_ENDPOINT_URL: "s3.example.com" }, "AWS_ENDPOINT_URL is not valid"],
    [{ ...WHOLE, AWS_ENDPOINT_URL: "https://a:secret-3@x" }, "AWS_ENDPOINT_URL is not valid"],
    [
      { ...WHOLE, CTXD_BACKUP_DIR: "/backups" },
      "CTXD_BACKUP_DIR does not work with CTXD_DATABASE_URL",
    ],
    [{ ...WHOLE, CTXD_DRAIN_SECONDS: "301" }, 'CTXD_DRAIN_SECONDS="301" is not valid'],
    [{ ...WHOLE, CTXD_CACHE_SIZE: "0" }, 'CTXD_CACHE_SIZE="0" is not valid'],
    [{ ...WHOLE, CTXD_CACHE_SIZE: "10 GB" }, 'CTXD_CACHE_SIZE="10 GB" is not valid'],
    ...["memories", "https://memories/x", "s3://M/x", "s3://a_b/x", "s3://ab", "s3://memories/../x"]
      .concat("s3://memories/a//b", "s3://memories/.hidden", "s3://memories/a b")
      .map((value): [Settings, string] => [
        { ...WHOLE, CTXD_OBJECTS: value },
        `CTXD_OBJECTS=${JSON.stringify(value)} is not valid`,
      ]),
    ...["mysql://ctxd:secret-1@x/ctxd", "postgres://ctxd:secret-1@x", "postgres://ctxd:secret-1@x/"]
      .concat("postgres:///ctxd", "postgres://ctxd:secret-1/x@db/ctxd", "secret-1")
      .concat("postgres://ctxd:secret-1@x/a/b", "postgres://x/a?sslmode=on", "postgres://x/a b")
      .map((value): [Settings, string] => [
        { ...WHOLE, CTXD_DATABASE_URL: value },
        "CTXD_DATABASE_URL is not valid: use an",
      ]),
  ])("%j", (env, said) => {
    const message = refusal(env);
    expect(message).toContain(said);
    expect(message).not.toMatch(/secret|\n/);
  });
});
