import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Role, Space } from "../../src/accounts/space.ts";
import { inSpace, wholeAccount } from "../../src/keys/reach.ts";
import { type OAuthServer, startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo, type Page, type Person } from "../oauth/support/person.ts";
import { join } from "../support/space-team.ts";
import { until } from "../support/until.ts";

let server: OAuthServer;
beforeAll(async () => {
  server = await startOAuthServer();
});
afterAll(() => server.close());

interface Member {
  accountId: string;
  person: Person;
}

/** Ann, the admin of the space acme, and Bob with a role in it. */
async function team(role: Role = "write") {
  const [ann, bob] = [await server.signedIn(), await server.signedIn()];
  const space = await server.spaces.create(ann.accountId, "acme");
  await join(server, space, bob, role);
  return { ann, bob, space };
}

/** Chooses a space by the form at the top; null for the person's own memories. */
async function choose({ person }: Member, space: Pick<Space, "id"> | null): Promise<Page> {
  const page = formTo(await person.visit("/memories"), "/spaces/choose");
  return await person.submit(page, { space: space?.id ?? "personal", section: "memories" });
}

const idOf = async ({ accountId }: Member) => (await server.accounts.find(accountId))?.email ?? "";
const reachOf = ({ accountId }: Member, space: Space) => inSpace(wholeAccount(accountId), space);
const save = (reach: ReturnType<typeof wholeAccount>, content: string, project?: string) =>
  server.memories.save(reach, { content, ...(project !== undefined && { project }) });

/** The events of a person in the security log, newest first. */
async function eventsOf({ accountId }: Member) {
  await server.securityLog.flush();
  return await server.securityLog.list(accountId, {}, { limit: 20 });
}

test("who is in no space sees nothing of spaces on the pages of memories", async () => {
  const { person } = await server.signedIn();
  for (const path of [
    "/",
    "/memories",
    "/projects",
    "/activity",
    "/map",
    "/memories/new",
    "/keys",
  ]) {
    const { text } = await person.visit(path);
    expect(text).not.toMatch(/data-space|space-switch|form_space|bound_space|\/spaces/);
  }
});

test("the choice decides whose memories all pages show, and says how many people see them", async () => {
  const { ann, bob, space } = await team();
  await save(wholeAccount(bob.accountId), "A secret of Bob.", "bobs/project");
  await save(reachOf(ann, space), "What acme knows.", "acme/web");
  const own = await bob.person.visit("/memories");
  expect(own.text).toContain("only you see these memories");
  expect(own.text).toContain("A secret of Bob.");
  expect(own.text).not.toContain("What acme knows.");

  const shared = await choose(bob, space);
  expect(shared.text).toContain("2 people</a> see these memories");
  const chosen = shared.cookies.find((cookie) => cookie.startsWith("ctxd-space="));
  expect(chosen).toMatch(/^ctxd-space=acc_\w+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=\d+$/);
  const shows: [path: string, what: string][] = [
    ["/", "What acme knows."],
    ["/memories", "What acme knows."],
    ["/memories?q=knows", "acme/web"],
    ["/projects", "acme/web"],
    ["/projects/acme%2Fweb", "What acme knows."],
    ["/palette", "acme/web"],
  ];
  for (const [path, what] of shows) {
    const { text } = await bob.person.visit(path);
    expect(text).toContain(what);
    expect(text).not.toContain("ecret of Bob");
    expect(text).not.toContain("bobs/project");
  }
  expect((await bob.person.visit("/projects/bobs%2Fproject")).status).toBe(404);
  const { text: keys } = await bob.person.visit("/keys");
  expect(keys).not.toContain("data-space=");
  expect((await choose(bob, null)).text).toContain("A secret of Bob.");
});

test("what a writer saves in a space is the space's, and the form says who will see it", async () => {
  const { ann, bob, space } = await team();
  await choose(bob, space);
  const form = await bob.person.visit("/memories/new");
  expect(form.text).toContain("2 people will see this: it is saved in");
  const saved = await bob.person.submit(formTo(form, "/memories"), { content: "Shared." });
  expect(saved.text).toContain("The memory is saved.");
  const { memories } = await server.memories.list(reachOf(ann, space), { filter: {}, limit: 9 });
  expect(memories).toMatchObject([
    { content: "Shared.", source: { via: "dashboard", by: await idOf(bob) } },
  ]);
  expect(await server.memories.count(wholeAccount(bob.accountId), {})).toBe(0);
  await choose(ann, space);
  await server.activity.flush();
  const activity = await ann.person.visit("/activity");
  expect(activity.text).toContain(await idOf(bob));
  expect(activity.text).not.toContain("Keep questions");
});

test("a form that was opened in another space than the chosen one changes nothing", async () => {
  const { bob, space } = await team();
  const personal = formTo(await bob.person.visit("/memories/new"), "/memories");
  await choose(bob, space);
  const shared = formTo(await bob.person.visit("/memories/new"), "/memories");
  const wrong = await bob.person.submit(personal, { content: "Personal." });
  expect(wrong.status).toBe(409);
  expect(wrong.text).toContain("opened in your own memories. You are now in the space “acme”");
  await choose(bob, null);
  const refused = await bob.person.submit(shared, { content: "Shared." });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("opened in the space “acme”. You are now in your own memories");
  expect(await server.memories.count(wholeAccount(bob.accountId), {})).toBe(0);
  expect(await server.memories.count(reachOf(bob, space), {})).toBe(0);
  expect((await bob.person.submit(personal, { content: "Personal." })).status).toBe(200);
});

test("a reader sees no forms that change, and sending one is refused", async () => {
  const { ann, bob, space } = await team();
  const { memory } = await save(reachOf(ann, space), "Read me.", "acme/web");
  await choose(bob, space);
  const paths = ["/memories/new", `/memories/${memory.id}/edit`, "/memories/import"];
  const forms = [
    formTo(await bob.person.visit("/memories/new"), "/memories"),
    formTo(await bob.person.visit(`/memories/${memory.id}`), `/memories/${memory.id}/pin`),
    formTo(
      await bob.person.visit(`/memories/${memory.id}/delete`),
      `/memories/${memory.id}/delete`,
    ),
    formTo(await bob.person.visit("/projects/acme%2Fweb"), "/projects/acme%2Fweb/rename"),
  ];
  await server.spaces.setRole(ann.accountId, space.id, bob.accountId, "read");
  for (const form of forms) {
    const { status, text } = await bob.person.submit(form, { content: "No.", name: "no" });
    expect(status).toBe(403);
    expect(text).toContain("You may read the memories of this space, and not change them.");
  }
  for (const path of paths) expect((await bob.person.visit(path)).status).toBe(403);
  for (const path of ["/memories", `/memories/${memory.id}`, "/projects/acme%2Fweb", "/"]) {
    const { text, status } = await bob.person.visit(path);
    expect(status).toBe(200);
    expect(text).not.toMatch(/Add a memory|Delete|Unpin|Rename|type="checkbox" name="id"/);
  }
  expect(await server.memories.count(reachOf(ann, space), {})).toBe(1);
});

test("after a removal the next page is the person's own, with a notice, and the stream has ended", async () => {
  const { ann, bob, space } = await team();
  await save(reachOf(ann, space), "What acme knows.");
  await choose(bob, space);
  const stream = await fetch(`${server.origin}/events?of=memories`, {
    headers: { cookie: [...bob.person.jar].map((pair) => pair.join("=")).join("; ") },
  });
  let ended = false;
  const reading = (async () => {
    for await (const _ of stream.body ?? []);
    ended = true;
  })();
  await server.spaces.removeMember(ann.accountId, space.id, bob.accountId);
  await save(reachOf(ann, space), "News.");
  await until("the end of the stream", () => ended);
  await reading;
  const part = await bob.person.visit("/memories", { "ctxd-part": "results" });
  expect(part.text).not.toContain("acme");
  const { text } = await bob.person.visit("/memories");
  expect(text).toContain("You are not in the space that you had chosen any more.");
  expect(text).not.toContain("What acme knows.");
  expect((await bob.person.visit("/memories")).text).not.toContain("any more");
});

test("people make a space, invite by a link that is shown once, and join", async () => {
  const [ann, bob] = [await server.signedIn(), await server.signedIn()];
  const bad = await ann.person.submit(formTo(await ann.person.visit("/spaces"), "/spaces"), {
    name: "personal",
  });
  expect(bad.status).toBe(422);
  const made = await ann.person.submit(formTo(await ann.person.visit("/spaces"), "/spaces"), {
    name: "acme",
  });
  expect(made.text).toContain("The space “acme” is made.");
  const { pathname: path } = new URL(made.url);
  const invited = await ann.person.submit(formTo(made, `${path}/invite`), { role: "read" });
  const [, secret = ""] = /\/spaces\/join\/([\w-]+)/.exec(invited.text) ?? [];
  expect(secret).not.toBe("");
  expect((await ann.person.visit(invited.url)).text).not.toContain(secret);

  const offer = await bob.person.visit(`/spaces/join/${secret}`);
  expect(offer.text).toContain("You could then read its memories.");
  const joined = await bob.person.submit(formTo(offer, `/spaces/join/${secret}`));
  expect(joined.text).toContain("You are in the space “acme”.");
  expect(joined.text).not.toContain("Invite somebody");
  expect((await bob.person.visit(`/spaces/join/${secret}`)).status).toBe(404);
  expect(await eventsOf(bob)).toMatchObject([{ event: "space_joined" }]);
  expect(await eventsOf(ann)).toMatchObject([
    { event: "space_invited" },
    { event: "space_created" },
  ]);
});

test("who is not signed in is asked to sign in before an invitation shows anything", async () => {
  const { ann, space } = await team();
  const wanted = { role: "write", email: null } as const;
  const { secret } = await server.spaceInvitations.create(ann.accountId, space.id, wanted);
  const answer = await fetch(`${server.origin}/spaces/join/${secret}`, { redirect: "manual" });
  expect(answer.headers.get("location")).toStartWith("/sign-in?next=%2Fspaces%2Fjoin%2F");
});

test("an invitation of an address waits on the page of spaces, to accept or to decline", async () => {
  const { ann, space } = await team();
  const eve = await server.signedIn();
  const email = await idOf(eve);
  const invite = async () => {
    const page = formTo(
      await ann.person.visit(`/spaces/${space.id}`),
      `/spaces/${space.id}/invite`,
    );
    return await ann.person.submit(page, { email, role: "write" });
  };
  server.clock.advance(1);
  expect((await invite()).text).toContain(email);
  const waiting = await eve.person.visit("/spaces");
  expect(waiting.text).toContain("You are invited");
  const decline = waiting.forms.find(({ action }) => action.endsWith("/decline"));
  expect((await eve.person.submit(formTo(waiting, decline?.action ?? ""))).text).toContain(
    "The invitation is declined.",
  );
  await invite();
  const again = await eve.person.visit("/spaces");
  const accept = again.forms.find(({ action }) => action.endsWith("/accept"));
  expect((await eve.person.submit(formTo(again, accept?.action ?? ""))).text).toContain(
    "You are in the space “acme”.",
  );
});

test("an admin changes roles, projects and the name, removes a member, and deletes by the name", async () => {
  const { ann, bob, space } = await team("read");
  const path = `/spaces/${space.id}`;
  const page = () => ann.person.visit(path);
  const form = async (action: string, fields: Record<string, string>) =>
    await ann.person.submit(formTo(await page(), `${path}/${action}`), fields);
  const member = bob.accountId;
  const giveRole = async (of: string, role: Role) => {
    const shown = await ann.person.visit(`${path}/member?member=${of}`);
    return await ann.person.submit(formTo(shown, `${path}/role`), { role });
  };
  expect((await giveRole(member, "write")).text).toContain("is Writer now.");
  const ofSpace = await ann.person.visit(`${path}/projects`);
  await ann.person.submit(formTo(ofSpace, `${path}/projects`), {
    projects: "acme/web\r\n acme/api \r\n\r\nacme/web",
  });
  expect((await server.spaces.admit(ann.accountId))?.spaces).toMatchObject([
    { projects: ["acme/web", "acme/api"] },
  ]);
  expect((await form("rename", { name: "acme inc" })).text).toContain("is called “acme inc” now");
  const last = await giveRole(ann.accountId, "read");
  expect(last.status).toBe(409);

  for (const action of ["role", "projects", "rename", "invite", "remove", "delete", "revoke"]) {
    const forged = formTo(await bob.person.visit("/spaces"), "/spaces");
    const forms = forged.forms.map((each) => ({ ...each, action: `${path}/${action}` }));
    const answer = await bob.person.submit(
      { ...forged, forms },
      { member, role: "admin", name: "mine" },
    );
    expect([action, answer.status]).toEqual([action, 403]);
  }
  const question = await ann.person.visit(`${path}/remove?member=${member}`);
  expect(question.text).toContain("What they saved there stays.");
  await ann.person.submit(formTo(question, `${path}/remove`));
  expect((await bob.person.visit(path)).status).toBe(404);

  const deletion = await ann.person.visit(`${path}/delete`);
  const wrong = await ann.person.submit(formTo(deletion, `${path}/delete`), { name: "acme" });
  expect(wrong.text).toContain("This is not the name of the space.");
  await ann.person.submit(formTo(deletion, `${path}/delete`), { name: "acme inc" });
  expect((await server.spaces.admit(ann.accountId))?.spaces).toEqual([]);
  expect((await eventsOf(ann)).slice(0, 2)).toMatchObject([
    ...[{ event: "space_deleted" }, { event: "space_changed" }],
  ]);
});

test("a member leaves, and what they saved stays", async () => {
  const { ann, bob, space } = await team();
  await save(reachOf(bob, space), "Bob knew this.");
  const question = await bob.person.visit(`/spaces/${space.id}/leave`);
  expect(question.text).toContain("What you saved there stays, and 1 person can still see it");
  await bob.person.submit(formTo(question, `/spaces/${space.id}/leave`));
  expect((await server.spaces.admit(bob.accountId))?.spaces).toEqual([]);
  expect(await server.memories.count(reachOf(ann, space), {})).toBe(1);
});

test("the page of a project tells what an agent is told, of the spaces too", async () => {
  const { ann, bob, space } = await team();
  await server.spaces.change(ann.accountId, space.id, { projects: ["acme/web"] });
  await save(reachOf(ann, space), "The web deploys on Tuesdays.", "acme/web");
  await save(wholeAccount(bob.accountId), "My branch is called otter.", "acme/web");
  await save(wholeAccount(ann.accountId), "My branch is called heron.", "acme/web");
  const { text } = await bob.person.visit("/projects/acme%2Fweb");
  expect(text).toMatch(/shared in acme, [^)]*\)<\/span> <bdi>The web deploys/);
  expect(text).toContain("otter");
  expect(text).not.toContain("heron");
  await choose(bob, space);
  const shared = (await bob.person.visit("/projects/acme%2Fweb")).text;
  expect(shared).toContain("The web deploys");
  expect(shared).not.toMatch(/otter|heron/);
});

test("a project moves into a space after a preview", async () => {
  const { ann, bob, space } = await team();
  await save(wholeAccount(bob.accountId), "Deploys are on Tuesdays.", "acme/web");
  const page = await bob.person.visit("/projects/acme%2Fweb");
  expect(page.text).toContain("Move into a space");
  const path = "/projects/acme%2Fweb/into-space";
  const preview = await bob.person.visit(`${path}?space=${space.id}`);
  for (const part of ["Move 1 memory into a space?", "2 people will see", "Deploys are on"]) {
    expect(preview.text).toContain(part);
  }
  const moved = await bob.person.submit(formTo(preview, path));
  expect(moved.text).toContain("Moved into “acme”: 1 memory.");
  expect(await server.memories.count(wholeAccount(bob.accountId), {})).toBe(0);
  expect(await server.memories.count(reachOf(ann, space), {})).toBe(1);
  expect(await eventsOf(bob)).toMatchObject([{ event: "memories_moved", amount: 1 }]);
  await server.spaces.setRole(ann.accountId, space.id, bob.accountId, "read");
  expect((await bob.person.visit(`${path}?space=${space.id}`)).status).toBe(403);
});

test("keys and apps are bound to one of the person's spaces, and stay so when a key is regenerated", async () => {
  const { ann, bob, space } = await team();
  const other = await server.spaces.create(ann.accountId, "other");
  const page = await bob.person.visit("/keys");
  const create = (spaceId: string) =>
    bob.person.submit(formTo(page, "/keys"), { name: "bound", bound_space: spaceId });
  expect((await create(other.id)).status).toBe(404);
  expect((await create(space.id)).text).toContain("in the space <bdi>acme</bdi>");
  const bound = async () =>
    (await server.keys.list(bob.accountId)).filter(({ name }) => name === "bound");
  const [key] = await bound();
  expect(key?.spaceId).toBe(space.id);
  const path = `/keys/${key?.id}/regenerate`;
  await bob.person.submit(formTo(await bob.person.visit(path), path));
  expect((await bound()).map(({ spaceId }) => spaceId)).toEqual([...[space.id, space.id]]);

  const { client_id: clientId } = await server.register();
  const asked = await bob.person.visit(server.authorizeUrl(clientId));
  const refused = await bob.person.submit(asked, { decision: "allow", bound_space: other.id });
  expect(refused.status).toBe(404);
  await server.consent(bob.person, clientId, {}, { bound_space: space.id });
  const [grant] = await server.oauth.grants.list(bob.accountId);
  expect(grant?.spaceId).toBe(space.id);
});

test("the owner sets the quota of a space, closes and opens it, and removes it", async () => {
  const owner = await server.accounts.findOwner();
  if (!owner) throw new Error("the server has no owner");
  const { bob, space } = await team();
  expect((await bob.person.visit("/admin/spaces")).status).toBe(403);
  const { person } = await server.signedIn();
  person.jar.set("ctxd-session", await server.sessions.begin(owner.id));
  expect((await person.visit("/admin/spaces")).text).toContain(`/admin/spaces/${space.id}`);
  const path = `/admin/spaces/${space.id}`;
  const form = async (action: string, fields: Record<string, string> = {}) =>
    await person.submit(formTo(await person.visit(path), `${path}/${action}`), fields);
  await form("quota", { memories: "5", bytes: "" });
  expect(await server.quotas.of(space.id)).toEqual({ memories: 5, bytes: null });
  await form("state", { state: "closed" });
  expect((await bob.person.visit(`/spaces/${space.id}`)).status).toBe(404);
  await form("state", { state: "open" });
  expect((await bob.person.visit(`/spaces/${space.id}`)).status).toBe(200);
  const remove = `${path}/remove`;
  await person.submit(formTo(await person.visit(remove), remove));
  expect((await bob.person.visit(`/spaces/${space.id}`)).status).toBe(404);
});
