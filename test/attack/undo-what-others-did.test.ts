import { afterAll, beforeAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { formToken } from "../../src/pages/cookies.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createFuzzParts } from "../support/fuzzer.ts";

/** FUZZ_SEED=… generates other requests. */
const SEED = Number(process.env.FUZZ_SEED ?? 2_026);
const REQUESTS = process.env.LONG === "1" ? 20_000 : 750;
const TIMEOUT = REQUESTS * 80;
const AT_ONCE = 8;
/** Where changes are made and undone, and what pages ask for by id, cursor and time. */
const PATHS = [
  ...["/memories/selection", "/memories/selection/undo"],
  ...["/memories", "/activity", "/map", "/map/points", "/map/texts", "/memories/:id", "/"],
  ...["/api/memories", "/api/memories/search", "/api/memories/:id", "/api/memories/:id/history"],
  ...["/api/stats", "/api/memories/export"],
];

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

const newMarker = () => `marker${crypto.randomUUID().replaceAll("-", "")}`;

/** An account with a marker in all its data, a change that can be undone, and keys for all of it and for one project. */
async function enter() {
  const marker = newMarker();
  const own = newMarker();
  const { accountId } = await server.signedIn();
  const session = await server.sessions.begin(accountId);
  const memoryOf = (text: string, project: string | null) => ({
    content: `The lamp of ${text} is red.`,
    ...{ tags: [text], agent_id: text, session_id: text, metadata: { text } },
    project,
  });
  const reach = wholeAccount(accountId);
  const saved = await server.memories.saveAll(
    reach,
    [1, 2, 3].map(() => memoryOf(marker, marker)),
  );
  const inProject = await server.memories.saveAll(
    reach,
    [1, 2, 3].map(() => memoryOf(own, own)),
  );
  const ids = saved.map(({ id }) => id);
  await server.undoable.applyLater(reach, { kind: "delete", ids: ids.slice(0, 1) });
  const [pending] = await server.undoable.list(accountId);
  const { nextCursor } = await server.memories.list(reach, {
    filter: { projects: [marker] },
    limit: 1,
  });
  const whole = await server.client(accountId);
  const bound = await server.client(accountId, undefined, { project: own, only: true });
  return {
    accountId,
    ids,
    changes: [pending?.id ?? ""],
    cursors: [nextCursor ?? ""],
    /** What nobody but the whole account sees, and what its bound key sees too. */
    secrets: [marker, ...ids],
    ofProject: [own, ...inProject.map(({ id }) => id)],
    cookie: { cookie: `ctxd-session=${session}`, token: formToken(session) },
    keys: { whole: whole.key, bound: bound.key },
  };
}

type Entered = Awaited<ReturnType<typeof enter>>;

test("nobody undoes a change of another account", async () => {
  const [victim, thief] = [await enter(), await enter()];
  const undo = async ({ cookie: { cookie, token } }: Entered, change: string) => {
    const body = new URLSearchParams({ form_token: token, change });
    const init = { method: "POST", headers: { cookie }, body, redirect: "manual" } as const;
    return (await fetch(`${server.origin}/memories/selection/undo`, init)).status;
  };
  const [change = ""] = victim.changes;
  expect(await undo(thief, change)).toBe(409);
  expect(await server.undoable.list(victim.accountId)).toHaveLength(1);
  // The change is the one that its own account can undo.
  expect(await undo(victim, change)).toBe(303);
  expect(await server.undoable.list(victim.accountId)).toEqual([]);
});

/** What an attacker of the second account knows of the first: ids, changes and cursors. */
function createRequests(seed: number, people: readonly Entered[]) {
  const { random, below } = createFuzzParts(seed);
  const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item;
  const known = [
    people.flatMap(({ ids, ofProject }) => [...ids, ...ofProject.slice(1)]),
    people.flatMap(({ changes }) => changes),
    people.flatMap(({ cursors }) => cursors),
  ];
  const values = (): Record<string, string> => ({
    ...(random() < 0.5 && { id: pick(known[0] ?? []), ids: (known[0] ?? []).join(",") }),
    ...(random() < 0.5 && { change: pick(known[1] ?? []) }),
    ...(random() < 0.3 && { cursor: pick(known[2] ?? []) }),
    ...(random() < 0.3 && { version: pick(known[0] ?? []), before: "99999999" }),
    ...(random() < 0.5 && { action: pick(["tag", "untag"]), tag: "x", later: pick(["", "1"]) }),
  });
  return () => {
    const person = pick(people);
    const path = pick(PATHS).replace(":id", () => pick(known[0] ?? []));
    const isPage = !path.startsWith("/api/");
    const isForm = path.includes("/selection");
    const who = isPage ? "session" : pick(["whole", "bound"] as const);
    const { id, ids, change, cursor, before, version, ...form } = values();
    const queryOf: Record<string, Record<string, string | undefined>> = {
      "/api/memories": { cursor },
      "/api/memories/search": { q: "lamp red" },
      "/map/texts": { ids },
      "/map/points": { version },
      "/activity": { before },
      "/memories": { cursor, q: random() < 0.3 ? "lamp" : undefined },
    };
    const query = new URLSearchParams(
      Object.entries(queryOf[path] ?? {}).filter((entry): entry is [string, string] => !!entry[1]),
    );
    const { cookie, token } = person.cookie;
    const body = new URLSearchParams({
      ...{ ...form, form_token: token },
      ...(id && { id }),
      ...(change && { change }),
    });
    const key = who === "bound" ? person.keys.bound : person.keys.whole;
    const headers: Record<string, string> = isPage
      ? { cookie }
      : { authorization: `Bearer ${key}` };
    return {
      person,
      who,
      url: `${server.origin}${path}${query.size > 0 ? `?${query}` : ""}`,
      init: {
        method: isForm ? "POST" : "GET",
        headers,
        ...(isForm && { body }),
        redirect: "manual",
      } satisfies RequestInit,
    };
  };
}

test(
  `${REQUESTS} requests (FUZZ_SEED=${SEED}) of two accounts and their bound keys tell nothing of others`,
  async () => {
    const people = [await enter(), await enter()];
    const next = createRequests(SEED, people);
    const statuses = new Map<number, number>();
    for (let sent = 0; sent < REQUESTS; sent += AT_ONCE) {
      await Promise.all(
        Array.from({ length: AT_ONCE }, next).map(async ({ person, who, url, init }) => {
          const answer = await fetch(url, init);
          const told = `${JSON.stringify([...answer.headers])}\n${await answer.text()}`;
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const others = people.filter((each) => each !== person);
          const hidden = [
            ...others.flatMap(({ secrets, ofProject }) => [...secrets, ...ofProject]),
            ...(who === "bound" ? person.secrets : []),
          ];
          const asked = `${url}\n${init.body ?? ""}`;
          // An answer may repeat an id that was asked for.
          const leaked = hidden.find((secret) => told.includes(secret) && !asked.includes(secret));
          if (leaked || answer.status >= 500) {
            throw new Error(
              `FUZZ_SEED=${SEED} ${who} ${leaked}\n${asked}\n→ ${answer.status} ${told.slice(0, 2_000)}`,
            );
          }
        }),
      );
    }
    for (const status of [200, 303, 404, 409]) expect([...statuses.keys()]).toContain(status);
    // Enough is left to be found until the end.
    for (const { accountId, ids, ofProject } of people) {
      const kept = await server.memories.byIds(wholeAccount(accountId), [
        ...ids,
        ...ofProject.slice(1),
      ]);
      expect(kept).toHaveLength(6);
    }
  },
  TIMEOUT,
);
