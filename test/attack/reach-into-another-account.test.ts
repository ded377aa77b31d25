import { afterAll, beforeAll, expect, test } from "bun:test";
import { generateKey } from "../../src/keys/new-key.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { FULL_ACCESS, type Scope } from "../../src/keys/scopes.ts";
import { formToken } from "../../src/pages/cookies.ts";
import { type OAuthServer, startOAuthServer, tokensOf } from "../oauth/support/oauth-server.ts";
import { type Credential, createHostileFuzzer } from "../support/hostile-fuzzer.ts";
import { sendRaw } from "../support/raw-http.ts";
import { REPLICAS } from "../support/replicas.ts";

/** LONG=1 sends 100,000 requests, and replicas get fewer. FUZZ_SEED=… generates other requests. */
const REQUESTS = process.env.LONG === "1" ? 100_000 : REPLICAS > 1 ? 400 : 1_200;
const SEED = Number(process.env.FUZZ_SEED ?? 2_026);
/** Requests by one set of accounts. Some requests revoke their credentials. */
const ROUND = 400;
const AT_ONCE = 16;

const SCOPES: readonly (readonly Scope[])[] = [
  FULL_ACCESS,
  ["memories:read"],
  ["memories:write"],
  ["memories:add"],
  ["memories:read", "memories:add"],
];

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

const bearer = (name: string, token: string): Credential => ({
  name,
  headers: { authorization: `Bearer ${token}` },
  formToken: null,
});

/** A session's credential. */
async function signedIn(name: string, accountId: string): Promise<Credential> {
  const session = await server.sessions.begin(accountId, `browser of ${name}`);
  const headers = { cookie: `ctxd-session=${session}` };
  return { name, headers, formToken: formToken(session) };
}

/** An account with a canary in all its data, and every kind of credential. */
async function enter(name: string) {
  const canary = `canary${name}${crypto.randomUUID().replaceAll("-", "")}`;
  const { accountId, clientId, person, tokens } = await server.connect({});
  const reading = await server.consent(person, clientId, { scope: "memories:read" });
  const readingTokens = tokensOf(await server.redeem(clientId, reading.code ?? null));
  const memory = {
    content: `The secret is ${canary}.`,
    tags: [canary],
    agent_id: canary,
    session_id: canary,
    metadata: { canary },
  };
  const saved = await server.memories.saveAll(wholeAccount(accountId), [memory, memory], {
    idempotencyKey: "shared",
  });
  const keyName = canary.replace("canary", "key");
  const keys = await Promise.all(
    SCOPES.map((scopes) =>
      server.keys.create(accountId, { name: keyName, scopes, expiresAt: null }),
    ),
  );
  const short = { name: keyName, scopes: FULL_ACCESS, expiresAt: new Date(server.clock() + 1) };
  const revoked = await server.keys.create(accountId, short);
  const expired = await server.keys.create(accountId, short);
  await server.keys.revoke(accountId, revoked.record.id);
  server.clock.advance(2);
  return {
    name,
    canary,
    keyName,
    accountId,
    saved,
    ids: [
      ...saved.map(({ id }) => id),
      ...keys.map(({ record }) => record.id),
      ...(await server.oauth.grants.list(accountId)).map(({ id }) => id),
      ...(await server.sessions.list(accountId)).map(({ id }) => id),
      accountId,
    ],
    credentials: [
      ...keys.map(({ key }, index) => bearer(`${name} key ${SCOPES[index]}`, key)),
      bearer(`${name} revoked`, revoked.key),
      bearer(`${name} expired`, expired.key),
      bearer(`${name} token`, tokens.access_token),
      bearer(`${name} reading token`, readingTokens.access_token),
      bearer(`${name} refresh token`, tokens.refresh_token),
      await signedIn(`${name} session`, accountId),
      await signedIn(`${name} session`, accountId),
    ],
  };
}

const STRANGERS: readonly Credential[] = [
  { name: "none", headers: {}, formToken: null },
  { name: "malformed", headers: { authorization: "Bearer ctx_' OR 1=1 --" }, formToken: null },
  { name: "basic", headers: { authorization: `Basic ${btoa("a:b")}` }, formToken: null },
  { name: "no session", headers: { cookie: "ctxd-session=x" }, formToken: formToken("x") },
];

test(`${REQUESTS} hostile requests (FUZZ_SEED=${SEED}) cause no server error and reach no other account`, async () => {
  const { host } = new URL(server.origin);
  const routes = server.routes.filter(({ path }) => !path.startsWith("/assets"));
  const owner = await server.account();
  const victim = await enter("victim");
  const asked = new Map<string, number>();
  const statuses = new Map<number, number>();
  for (let sent = 0; sent < REQUESTS; sent += ROUND) {
    // Restores the hourly limits.
    server.clock.advance(2 * 3_600_000);
    const [one, other, disabled] = [
      await enter("one"),
      await enter("other"),
      await enter("closed"),
    ];
    await server.accounts.disable(disabled.accountId);
    const people = [victim, one, other, disabled];
    const next = createHostileFuzzer(SEED + sent, {
      routes,
      host,
      credentials: [
        ...[...one.credentials, ...other.credentials, ...disabled.credentials],
        ...[...STRANGERS, bearer("unknown", generateKey())],
        await signedIn("owner session", owner.accountId),
      ],
      // The owner may remove accounts. The victim is checked at the end.
      ids: people.flatMap(({ ids }) => ids).filter((id) => id !== victim.accountId),
    });
    for (let round = 0; round < Math.min(ROUND, REQUESTS); round += AT_ONCE) {
      const group = Array.from({ length: AT_ONCE }, next);
      const answers = await Promise.all(
        group.map(({ request }) => sendRaw(server.port, request, 60_000)),
      );
      for (const [index, { status, headers, body }] of answers.entries()) {
        const { credential, method = "", target = "", request } = group[index] ?? {};
        const isOwner = credential?.name.startsWith("owner");
        const told = `${JSON.stringify([...headers])}\n${body}`;
        const foreign = people.find(
          ({ name, canary, keyName }) =>
            !credential?.name.startsWith(name) &&
            // The owner sees names of keys in the security log.
            (told.includes(canary) || (!isOwner && told.includes(keyName))),
        );
        // The owner may have enabled the account again.
        const closed =
          credential?.name.startsWith("closed") &&
          told.includes(disabled.canary) &&
          (await server.accounts.admit(disabled.accountId)) === null;
        // An export is interrupted when its credential was revoked meanwhile.
        const isUnanswered = status === 0 && !target.endsWith("/export");
        if (isUnanswered || status >= 500 || foreign || closed) {
          const shown = request?.toString().slice(0, 2_000);
          throw new Error(
            `FUZZ_SEED=${SEED} ${credential?.name}: ${foreign?.name ?? ""}\n${shown}\n→ ${status} ${told.slice(0, 2_000)}`,
          );
        }
        const route = `${method} ${target.split("/").slice(0, 3).join("/")}`;
        if (status < 400) asked.set(route, (asked.get(route) ?? 0) + 1);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    }
  }
  // Enough requests succeed for the test to be meaningful.
  for (const status of [200, 201, 303, 401, 403, 404, 415, 422]) {
    expect([...statuses.keys()]).toContain(status);
  }
  expect(asked.size).toBeGreaterThan(20);
  if (process.env.LONG === "1") console.log(Object.fromEntries(statuses));
  const kept = await server.memories.list(wholeAccount(victim.accountId), {
    filter: {},
    limit: 100,
  });
  expect(kept.memories.map(({ id }) => id).sort()).toEqual(victim.saved.map(({ id }) => id).sort());
  expect(kept.memories).toEqual(expect.arrayContaining(victim.saved));
  expect(Object.keys(Object.prototype)).toEqual([]);
}, 3_600_000);
