import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hashSecret } from "../../src/db/id.ts";
import { createPerson } from "../oauth/support/person.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { until } from "../support/until.ts";
import { type Dump, isReadable, readAsReporter } from "./support/reporter.ts";
import { createSecrets, type Secrets } from "./support/secrets.ts";

/** What a PostgreSQL user with SELECT on all tables can do: an account for reports, or the thief of a dump. */

const SHA_256 = /^[0-9a-f]{64}$/;
/** Columns that are made from secrets, and what they hold instead. */
const HOLDS: Record<string, { what: string; form: RegExp }> = {
  "accounts.password_hash": { what: "argon2id of the password", form: /^\$argon2id\$v=19\$m=/ },
  "api_keys.hash": { what: "SHA-256 of the key", form: SHA_256 },
  "api_keys.prefix": { what: "the first eight characters of the key", form: /^ctx_\w{4}$/ },
  "ephemeral.key": { what: "SHA-256 of the purpose and its secret", form: SHA_256 },
  "ephemeral.value": {
    what: "encrypted with the secret of which the key is a hash; empty for counters",
    form: /^([\w-]{38,})?$/,
  },
  "idempotency_keys.key_hash": { what: "SHA-256 of the header", form: SHA_256 },
  "idempotency_keys.request_hash": { what: "SHA-256 of the request", form: SHA_256 },
  "invitations.hash": { what: "SHA-256 of the link's secret", form: SHA_256 },
  "oauth_clients.secret_hash": { what: "SHA-256 of the client's secret", form: SHA_256 },
  "oauth_codes.hash": { what: "SHA-256 of the code", form: SHA_256 },
  "oauth_codes.challenge": { what: "SHA-256 of the client's verifier", form: /^[\w-]{43}$/ },
  "oauth_tokens.hash": { what: "SHA-256 of the token", form: SHA_256 },
  "oauth_tokens.successor": { what: "SHA-256 of the next token", form: SHA_256 },
  "one_time_codes.secret": { what: "the secret itself, see the help: Security", form: /^\\x/ },
  "passkey_challenges.hash": { what: "SHA-256 of the browser's cookie", form: SHA_256 },
  "passkey_challenges.challenge": {
    what: "what a passkey must sign; of no use without it",
    form: /^[\w-]{43}$/,
  },
  "passkeys.public_key": { what: "the public half", form: /^\\x/ },
  "pending_sign_ins.hash": { what: "SHA-256 of the browser's cookie", form: SHA_256 },
  "recovery_codes.hash": { what: "SHA-256 of account and code, 80 random bits", form: SHA_256 },
  "server_secrets.name": {
    what: "a purpose; SHA-256 of the secret in a link to set up the server",
    form: /^(etags|device-cookies|set-up [0-9a-f]{64})$/,
  },
  "server_secrets.value": {
    what: "a key that signs nobody in: of ETags, and of cookies that spare known browsers a wait",
    form: /^([\w-]{43})?$/,
  },
  "sessions.hash": { what: "SHA-256 of the session's cookie", form: SHA_256 },
  "space_invitations.hash": { what: "SHA-256 of the link's secret", form: SHA_256 },
};

/** All other columns: ids, names, times, counts, and texts that may be read. */
const NOT_SECRET: Record<string, string> = {
  accounts: "id email role created_at disabled_at",
  activity_days: "account_id day kind source_id agent source times in_vain memories last_at",
  activity_events:
    "id account_id at kind source_id source agent times in_vain memories memory_id query",
  activity_settings: "account_id queries_since",
  api_keys:
    "id account_id name scopes created_at last_used_at expires_at revoked_at project project_only paused_at space_id",
  bases: "base name epoch since state contents",
  checkpoints: "name base version up_to files",
  comparisons: "name position",
  copies: "account_id epoch owner lease_until",
  ctxd_schema: "number oldest",
  ephemeral: "expires_at",
  heads:
    "name account_id seq memories bytes epoch owner lease_until due_at expires_at expiring_until",
  idempotency_keys: "account_id memory_ids created_at",
  identities: "issuer subject account_id created_at",
  invitations: "id email created_at expires_at",
  journal: "name seq id written removed has_remains memories bytes at",
  likenesses: "name later earlier kind changed_at",
  memory_uses:
    "account_id memory_id source_id agent created_at found recalled used found_at recalled_at used_at",
  oauth_clients: "id name redirect_uris created_at used_at asked_at",
  oauth_codes: "grant_id redirect_uri expires_at used_at",
  oauth_grants:
    "id account_id client_id client_name redirect_host scopes resource created_at last_used_at expires_at revoked_at must_sign project project_only paused_at space_id",
  oauth_tokens: "grant_id kind scopes expires_at used_at repeated_at",
  one_time_codes: "account_id confirmed_at last_step failures failed_at",
  passkey_challenges: "expires_at",
  passkeys: "id account_id counter transports name created_at last_used_at",
  pending_sign_ins: "account_id next tries_left expires_at",
  quotas: "account_id memories bytes",
  recovery_codes: "account_id",
  removed_accounts: "id",
  security_events:
    "id at event account_id actor_id via address agent subject_id subject amount times",
  sessions: "account_id created_at expires_at browser last_used_at proved_at",
  tables: "account_id name model",
  space_invitations: "id space_id email invited_by role created_at expires_at",
  space_members: "space_id account_id role joined_at",
  spaces: "id name projects disabled_at",
  uncompared: "number name ids",
  use_settings: "account_id since",
  waiting_changes: "id account_id due_at begun_at change person_id",
};

let cluster: Cluster;
let secrets: Secrets;
/** Before and after the server has an owner. */
let ownerless: Dump;
let dump: Dump;
/** The secrets of the links that the servers printed. */
let links: string[];

beforeAll(async () => {
  const settings = { CTXD_RATE_LIMIT: "off" };
  cluster = await startCluster({ replicas: 2, kind: "real", settings });
  const linkOf = (errors: string) => /\/setup\?token=([\w-]{43})\b/.exec(errors)?.[1] ?? null;
  links = await Promise.all(
    cluster.replicas.map(({ errors }) => until("a link is printed", () => linkOf(errors()))),
  );
}, 120_000);
afterAll(() => cluster?.[Symbol.asyncDispose]());

/** Its public address: pages are served under this one alone. */
const originOf = (replica: number) =>
  (cluster.replicas[replica]?.origin() ?? "").replace("127.0.0.1", "localhost");

test("whoever reads the tables can't become the owner of a new cluster", async () => {
  const statusOf = async (replica: number, token: string) =>
    (await createPerson(originOf(replica)).visit(`/setup?${new URLSearchParams({ token })}`))
      .status;
  // Each server accepts the links of both.
  for (const link of links) {
    expect([await statusOf(0, link), await statusOf(1, link)]).toEqual([200, 200]);
  }
  ownerless = await readAsReporter(cluster);
  for (const value of ownerless.values.flatMap((each) => [each, each.replace("set-up ", "")])) {
    expect(await statusOf(1, value)).toBe(403);
  }
});

describe("a cluster with one of each secret:", () => {
  beforeAll(async () => {
    secrets = await createSecrets(cluster);
    dump = await readAsReporter(cluster);
  }, 120_000);

  test("every column is known: it holds no secret, or what is told here", () => {
    for (const [table, columns] of dump.columns) {
      const known = (NOT_SECRET[table] ?? "").split(" ");
      const made = columns.filter((column) => HOLDS[`${table}.${column}`]);
      expect([table, ...columns].sort()).toEqual([table, ...known, ...made].filter(Boolean).sort());
    }
    for (const [column, { what, form }] of Object.entries(HOLDS)) {
      const values = dump.valuesOf(column);
      // The test has made one of each.
      expect({ column, what, values: values.length > 0 }).toEqual({ column, what, values: true });
      for (const value of values) expect(value).toMatch(form);
    }
  });

  test("no secret is in any table, in any encoding", () => {
    const all = { ...secrets, ...Object.fromEntries(links.map((link, n) => [`link ${n}`, link])) };
    const found = Object.entries(all).filter(
      ([, secret]) => isReadable(dump, secret) || isReadable(ownerless, secret),
    );
    expect(found.map(([name]) => name)).toEqual([]);
    // Otherwise nothing would be found.
    expect(isReadable(dump, "reader@example.com")).toBe(true);
  });

  test("no value of any table opens anything", async () => {
    const origin = originOf(0);
    const statusOf = async (path: string, headers: Record<string, string>) =>
      (await fetch(`${origin}${path}`, { headers, redirect: "manual" })).status;
    const bearer = (value: string) =>
      statusOf("/api/memories", { authorization: `Bearer ${value}` });
    const session = (value: string) =>
      statusOf("/api/memories", { cookie: `ctxd-session=${value}` });
    const pending = (value: string) =>
      statusOf("/sign-in/second-step", { cookie: `ctxd-pending=${value}` });
    const tokenOf = async (body: Record<string, string>) =>
      (
        await fetch(`${origin}/api/oauth/token`, {
          method: "POST",
          body: new URLSearchParams(body),
        })
      ).status;
    const join = async (value: string) => {
      const page = await fetch(`${origin}/join/${encodeURIComponent(value)}`);
      return (await page.text()).includes("This invitation is not valid") ? 404 : page.status;
    };
    // The secrets themselves do.
    expect(await bearer(secrets.key)).toBe(200);
    expect(await session(secrets.session)).toBe(200);
    expect(await pending(secrets.pending)).toBe(200);
    expect(await join(secrets.invitation)).toBe(200);

    const values = dump.values.filter((value) => /^[\x21-\x7e]{8,500}$/.test(value));
    expect(values.length).toBeGreaterThan(50);
    const opened: string[] = [];
    const tries = values.flatMap((value) => [value, `ctx_${value}`, `ctxa_${value}`]);
    for (const value of tries) {
      const statuses = await Promise.all([
        bearer(value),
        session(value),
        pending(value),
        join(value),
      ]);
      if (statuses.includes(200)) opened.push(value);
    }
    const clientId = dump.valuesOf("oauth_clients.id")[0] ?? "";
    for (const value of values) {
      const renewed = tokenOf({
        ...{ grant_type: "refresh_token", client_id: clientId, refresh_token: value },
        client_secret: value,
      });
      if ((await renewed) === 200) opened.push(value);
    }
    expect(opened).toEqual([]);
  });

  test("what waits to be shown once can't be decrypted with anything in the tables", () => {
    const keys = new Set(dump.valuesOf("ephemeral.key"));
    const nameOf = (purpose: string) => hashSecret(`ephemeral value ${purpose}`);
    // With the cookie it can.
    expect(keys.has(nameOf(`shown once ${secrets.session} some-key`))).toBe(true);
    for (const value of dump.values) {
      expect(keys.has(nameOf(`shown once ${value} some-key`))).toBe(false);
      expect(keys.has(nameOf(`sign-in with a provider ${value}`))).toBe(false);
    }
  });
});
