import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Bound, wholeAccount } from "../../src/keys/reach.ts";
import { FULL_ACCESS, type Scope } from "../../src/keys/scopes.ts";
import type { Memory } from "../../src/memories/model/memory.ts";
import { UPKEEP_LIMITS } from "../../src/memories/upkeep/flush-state.ts";
import { type OAuthServer, startOAuthServer, tokensOf } from "../oauth/support/oauth-server.ts";
import { createFuzzParts } from "../support/fuzzer.ts";
import { createReasonableValues } from "../support/reasonable-values.ts";
import {
  createDescribedRequests,
  isRefused,
  readDescriptions,
} from "./support/described-requests.ts";

/** LONG=1 sends 50,000 requests. FUZZ_SEED=… generates other requests. */
const REQUESTS = process.env.LONG === "1" ? 50_000 : 1_500;
const SEED = Number(process.env.FUZZ_SEED ?? 2_026);
const AT_ONCE = 8;
/** Requests between two looks at the other projects. */
const UNCHECKED = 32;
/** What only the owner's keys do, and what no key does: people manage spaces. */
const isNotForBound = (name: string) =>
  name === "GET /api/metrics" || (name.includes(" /api/spaces") && name !== "GET /api/spaces");
const SCOPES: readonly (readonly Scope[])[] = [FULL_ACCESS, ["memories:read"], ["memories:add"]];

let server: OAuthServer;
beforeAll(async () => {
  // Some requests are answered when what they delete is gone.
  server = await startOAuthServer({ due: { ...UPKEEP_LIMITS, forgetAfter: 500 } });
});
afterAll(() => server.close());

const newCanary = () => `canary${crypto.randomUUID().replaceAll("-", "")}`;

/** What all memories have, and who is bound may know. */
const LABEL = "label";
/** The canary in contents, tags and metadata of other projects. */
const withCanary = (canary: string, project: string | null) => ({
  content: `The lighthouse of ${canary} has a red lamp.`,
  tags: [LABEL, canary],
  agent_id: LABEL,
  session_id: LABEL,
  metadata: { canary },
  project,
});

/** An account with memories of three projects and without a project, some superseded, and a key bound to one project. */
async function enter(only: boolean) {
  const { accountId, person, clientId } = await server.connect({});
  const reach = wholeAccount(accountId);
  const [foreign, none] = [newCanary(), newCanary()];
  // Requests contain guessed names. Answers must not confirm them.
  const names = [crypto.randomUUID(), crypto.randomUUID()];
  const save = async (project: string | null, canary: string) => {
    const memory = withCanary(canary, project);
    const [old] = await server.memories.saveAll(reach, [memory, memory]);
    const supersedes = old?.id ?? "";
    const newer = [{ ...memory, content: `Since May: ${memory.content}`, supersedes }];
    const [now] = await server.memories.saveAll(reach, newer, {
      idempotencyKey: project === "own" ? canary : `${project}`,
    });
    return [old, now].flatMap((each) => each?.id ?? []);
  };
  const hidden: string[] = [];
  for (const name of names) hidden.push(...(await save(name, foreign)));
  const ofNone = await save(null, none);
  const all = [...hidden, ...ofNone];
  const outside = all.length;
  const ids = { hidden: only ? [...hidden, ...ofNone] : hidden, all };
  /** A memory of the project between two of others, in one history. */
  const saveBetween = async (): Promise<string[]> => {
    const history: string[] = [];
    for (const memory of [
      withCanary(foreign, names[0] ?? null),
      withCanary(newCanary(), "own"),
      withCanary(foreign, names[1] ?? null),
    ]) {
      const supersedes = history.at(-1) ?? null;
      const [saved] = await server.memories.saveAll(reach, [{ ...memory, supersedes }]);
      history.push(saved?.id ?? "");
    }
    const [older = "", , newer = ""] = history;
    ids.hidden.push(older, newer);
    return history;
  };
  /** Ids of changes that can be undone. */
  const undo: string[] = [];
  /** What can be tidied in the project: the id of a group. Some tidying waits, to be undone. */
  const tidy = async (token: string): Promise<string[]> => {
    const expires_at = new Date(server.clock() + 86_400_000).toISOString();
    const expiring = { ...withCanary(newCanary(), "own"), expires_at };
    await server.memories.saveAll(reach, [expiring, expiring]);
    const send = async (path: string, init: RequestInit = {}) =>
      (await fetch(`${server.origin}/api/memories/tidy${path}`, {
        ...init,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      }).then((answer) => answer.json())) as { groups: { id: string }[]; undo: string };
    const { groups } = await send("?kind=expiring&limit=2");
    const [waiting, free] = groups.map(({ id }) => id);
    if ((await server.undoable.list(accountId)).length < AT_ONCE) {
      const body = JSON.stringify({ groups: [{ id: waiting, action: "pin" }] });
      undo.splice(0, 1, (await send("", { method: "POST", body })).undo);
    }
    return free === undefined ? [] : [free];
  };
  /** What is there to be found, changed, tidied and deleted goes, and comes again. */
  const saveOwn = async () =>
    all.splice(
      outside,
      6,
      ...(await save("own", newCanary())),
      ...(await saveBetween()),
      ...(await tidy(keys[0]?.key ?? "")),
    );

  const bound: Bound = { project: "own", only };
  const keys = await Promise.all(
    SCOPES.map((scopes) =>
      server.keys.create(accountId, { name: "bound", scopes, expiresAt: null, bound }),
    ),
  );
  const entered = { bound_project: "own", ...(only && { bound_only: "true" }) };
  const { code = null } = await server.consent(person, clientId, {}, entered);
  const { access_token: token } = tokensOf(await server.redeem(clientId, code));
  return {
    accountId,
    only,
    secrets: [...names, foreign, ...(only ? [none] : [])],
    names,
    saveOwn,
    undo,
    ids,
    tokens: [...keys.map(({ key }) => key), token],
  };
}

type Entered = Awaited<ReturnType<typeof enter>>;

/** Generates requests to all described operations about memories out of reach. */
function createRequests(
  seed: number,
  { ids, names, undo, tokens }: Entered,
  described: Awaited<ReturnType<typeof readDescriptions>>,
) {
  const { random } = createFuzzParts(seed);
  const { all } = ids;
  const later = ["2020-01-01", "2999-01-01T00:00:00.000Z"];
  const values = createReasonableValues({
    random,
    definitions: described.definitions,
    known: [
      [/^(memories\/id|id|supersedes|superseded_by)$/, all],
      [/^project$/, [...names, "own", null]],
      [/^(q|query|prompt|task)$/, ["Which lighthouse has a red lamp?", "lighthouse"]],
      [/^tags$/, [[LABEL]]],
      [/^(agent_id|session_id)$/, [LABEL]],
      [/_(at|after|before)$/, later],
      [/^(folder|transcript|cursor)$/, [undefined]],
      [/^idempotency-key$/, names],
      [/^undo$/, undo],
      [/^content$/, [`The lighthouse has a red lamp (${seed}).`]],
    ],
  });
  const next = createDescribedRequests({
    ...{ described, random, values, ids: all },
    mcpHeaders: () => ({
      ...(random() < 0.5 && { "ctxd-project": names[0] }),
      ...(random() < 0.2 && { "ctxd-bound": names[0] }),
    }),
  });
  return () => ({ ...next(), token: values.pick(tokens) ?? "" });
}

/** All data of the account outside of the project. */
async function outside({ accountId }: Entered): Promise<Memory[]> {
  const memories: Memory[] = [];
  for await (const page of await server.memories.export(wholeAccount(accountId), {})) {
    memories.push(...page.filter(({ project }) => project !== "own"));
  }
  return memories;
}

test(`${REQUESTS} requests (FUZZ_SEED=${SEED}) of a bound key reach no other project`, async () => {
  const asked = new Set<string>();
  const accounts = await Promise.all([enter(false), enter(true)]);
  const described = await readDescriptions(server.origin, accounts[0]?.tokens[0] ?? "");
  const { names } = described;
  // Every operation must succeed within the project, or the test would be meaningless.
  const isMissing = (name: string) => !asked.has(name) && !isNotForBound(name);
  for (const [place, entered] of accounts.entries()) {
    const next = createRequests(SEED + place, entered, described);
    const send = async ({ name, path, method, headers, body, token }: ReturnType<typeof next>) => {
      const answer = await fetch(server.origin + path, {
        method,
        headers: { ...headers, authorization: `Bearer ${token}` },
        body,
      });
      const told = `${JSON.stringify([...answer.headers])}\n${await answer.text()}`;
      const request = `${method} ${path}\n${JSON.stringify(headers)}\n${body ?? ""}`;
      const isTold = (secret: string) => told.includes(secret);
      const leaked =
        entered.secrets.find(isTold) ??
        // The answer that nothing was found may repeat the requested id.
        entered.ids.hidden.find((id) => isTold(id) && !request.includes(id));
      if (leaked || answer.status >= 500) {
        throw new Error(
          `FUZZ_SEED=${SEED} only=${entered.only} ${leaked}\n${request}\n→ ${answer.status} ${told.slice(0, 2_000)}`,
        );
      }
      if (!isRefused(answer.status, told)) asked.add(name);
    };
    const most = REQUESTS / accounts.length;
    const isWanted = ({ name }: { name: string }) => sent < most || isMissing(name);
    const isOver = () => sent >= most && (sent >= 10 * most || !names.some(isMissing));
    let sent = 0;
    while (!isOver()) {
      await entered.saveOwn();
      const before = await outside(entered);
      for (const end = sent + UNCHECKED; sent < end && !isOver(); sent += AT_ONCE) {
        server.clock.advance(60_000);
        const group = Array.from({ length: AT_ONCE }, () => {
          let request = next();
          // The last requests are only those of which none has succeeded yet.
          while (!isWanted(request)) request = next();
          return request;
        });
        await Promise.all(group.map(send));
      }
      expect(await outside(entered)).toEqual(before);
    }
  }
  expect(names.filter((name) => !asked.has(name))).toEqual(names.filter(isNotForBound));
}, 3_600_000);
