import type { Role } from "../../../src/accounts/space.ts";
import { type Reach, wholeAccount } from "../../../src/keys/reach.ts";
import { FULL_ACCESS, type Scope } from "../../../src/keys/scopes.ts";
import type { Memory } from "../../../src/memories/model/memory.ts";
import { formToken } from "../../../src/pages/cookies.ts";
import { type OAuthServer, tokensOf } from "../../oauth/support/oauth-server.ts";
import { createPerson } from "../../oauth/support/person.ts";
import type { Credential } from "../../support/hostile-fuzzer.ts";
import { join } from "../../support/space-team.ts";

/** What all memories have. Strangers may know it. */
export const LABEL = "label";
/** A project's name that can be guessed. It lives in each space. */
export const GUESSED = "acme/web";

/** The roles of five people in four spaces. The first one of each space makes it. */
const ROLES: readonly Readonly<Record<string, Role | "former" | "invited">>[] = [
  { ann: "admin", bob: "write", cid: "read", dot: "former", eve: "invited" },
  { bob: "admin", eve: "write", dot: "read" },
  { cid: "admin", ann: "read", bob: "former" },
  { dot: "admin", ann: "write", cid: "write", eve: "invited" },
];
const NAMES = ["ann", "bob", "cid", "dot", "eve"] as const;

/** A way in of one person. */
export interface Way extends Credential {
  readonly person: string;
  readonly reads: boolean;
  /** The account that it reaches; null for all of the person. */
  readonly only: string | null;
}

export type World = Awaited<ReturnType<typeof createWorld>>;

const newCanary = () => `canary${crypto.randomUUID().replaceAll("-", "")}`;

/** Five people in four spaces, with canaries in all of their data, and every kind of credential. */
export async function createWorld(server: OAuthServer) {
  const { spaces, spaceInvitations, accounts, keys } = server;
  const people = await Promise.all(
    NAMES.map(async (name) => {
      const canary = newCanary();
      const email = `${newCanary()}@example.com`;
      const { id } = await accounts.add({ email, password: null });
      return { name, id, email, canary, keyName: newCanary() };
    }),
  );
  const idOf = (name: string) => people.find((each) => each.name === name)?.id ?? "";
  const invitations: string[] = [];
  const madeSpaces = await Promise.all(
    ROLES.map(async (roles) => {
      const [name, project, canary] = [newCanary(), newCanary(), newCanary()];
      const [[maker = ""] = [], ...others] = Object.entries(roles);
      const { id } = await spaces.create(idOf(maker), name);
      await spaces.change(null, id, { projects: [GUESSED, project] });
      for (const [other, role] of others) {
        if (role === "invited") {
          const { email = null } = people.find((each) => each.name === other) ?? {};
          const made = await spaceInvitations.create(idOf(maker), id, { email, role: "write" });
          invitations.push(made.invitation.id);
          continue;
        }
        const isFormer = role === "former";
        await join(server, { id }, { accountId: idOf(other) }, isFormer ? "admin" : role);
        if (!isFormer) continue;
        // What a former member wrote stays.
        const former = reachOf(id, idOf(other));
        const memory = memoryOf(canary, GUESSED);
        await server.memories.saveAll(former, [memory], { idempotencyKey: "shared" });
        await spaces.removeMember(null, id, idOf(other));
      }
      const link = { email: null, role: "admin" } as const;
      invitations.push((await spaceInvitations.create(null, id, link)).invitation.id);
      const met = new Set(Object.keys(roles));
      return { id, name, project, canary, met };
    }),
  );
  const own = [...people, ...madeSpaces];
  for (const { id, canary } of own) {
    const memories = [memoryOf(canary, GUESSED), memoryOf(canary, null)];
    const [old] = await server.memories.saveAll(wholeAccount(id), memories);
    const newer = { ...memoryOf(`${canary} since May`, GUESSED), supersedes: old?.id ?? null };
    await server.memories.saveAll(wholeAccount(id), [newer], { idempotencyKey: "own" });
  }

  const { client_id: clientId } = await server.register();
  const waysOf = async ({ name: person, id, keyName }: (typeof people)[number]) => {
    const inside = (await spaces.admit(id))?.spaces ?? [];
    const ways: Way[] = [];
    const add = async (scopes: readonly Scope[], only: string | null, project: string | null) => {
      const bound = project === null ? null : { project, only: false };
      const wanted = { name: keyName, scopes, expiresAt: null, bound, spaceId: only };
      const { key } = await keys.create(id, wanted);
      const name = `${person}: key ${scopes} ${only} ${project}`;
      const headers = { authorization: `Bearer ${key}` };
      const reads = scopes.includes("memories:read");
      ways.push({ name, person, headers, formToken: null, reads, only });
    };
    for (const scopes of [FULL_ACCESS, ["memories:read"], ["memories:add"]] as const) {
      await add(scopes, null, null);
    }
    await add(FULL_ACCESS, null, GUESSED);
    for (const space of inside) {
      await add(FULL_ACCESS, space.id, null);
      await add(["memories:add"], space.id, null);
    }
    const atBrowser = createPerson(server.origin);
    atBrowser.jar.set("ctxd-session", await server.sessions.begin(id));
    for (const only of [null, ...inside.map((space) => space.id)]) {
      const { code = null } = await server.consent(
        atBrowser,
        clientId,
        {},
        { bound_space: only ?? "" },
      );
      const { access_token } = tokensOf(await server.redeem(clientId, code));
      const headers = { authorization: `Bearer ${access_token}` };
      ways.push({
        name: `${person}: token ${only}`,
        person,
        headers,
        formToken: null,
        reads: true,
        only,
      });
    }
    return ways;
  };
  const ways = (await Promise.all(people.map(waysOf))).flat();
  const written = await Promise.all(own.map(({ id }) => allOf(server, id)));
  return {
    people,
    spaces: madeSpaces,
    invitations,
    ways,
    ids: written.flat().map(({ id }) => id),
    /** A person's ways in, with a new session, in which any space is chosen, or none. */
    async waysOf(person: string): Promise<Way[]> {
      const session = await server.sessions.begin(idOf(person));
      const way = { person, formToken: formToken(session), reads: true, only: null };
      const own = ways.filter((each) => each.person === person);
      const cookies = [`ctxd-session=${session}`].concat(
        madeSpaces.map(({ id }) => `ctxd-session=${session}; ctxd-space=${id}`),
      );
      const sessions = cookies.map((cookie, at) => ({
        ...way,
        name: `${person}: session ${at}`,
        headers: { cookie, "sec-fetch-site": "same-origin" },
      }));
      return [...own, ...sessions];
    },
  };
}

function memoryOf(canary: string, project: string | null) {
  return {
    content: `The lighthouse of ${canary} has a red lamp.`,
    tags: [LABEL, canary],
    agent_id: canary,
    session_id: canary,
    metadata: { canary },
    project,
  };
}

const reachOf = (spaceId: string, personId: string): Reach => ({
  ...wholeAccount(spaceId),
  personId,
});

/** All memories of an account, superseded ones too. */
export async function allOf(server: OAuthServer, accountId: string): Promise<Memory[]> {
  const memories: Memory[] = [];
  for await (const page of await server.memories.export(wholeAccount(accountId), {})) {
    memories.push(...page);
  }
  return memories;
}
