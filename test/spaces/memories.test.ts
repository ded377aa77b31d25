import { afterAll, beforeAll, expect, test } from "bun:test";
import { startServer, type TestServer } from "../support/server.ts";
import { addPerson, join } from "../support/space-team.ts";

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

/** Two people in the space acme, in which the project acme/web lives; the second one may only read. */
async function team() {
  const ann = await addPerson(server, "ann");
  const bob = await addPerson(server, "bob");
  const space = await server.spaces.create(ann.accountId, "acme");
  await server.spaces.change(ann.accountId, space.id, { projects: ["acme/web"] });
  await join(server, space, bob, "read");
  return { ann, bob, space };
}

const found = async (person: Awaited<ReturnType<typeof addPerson>>, query: string) => {
  const { body } = await person.send("GET", `/memories/search?${query}`);
  return (body as { memories: { content: string; space?: string | null }[] }).memories;
};

test("what is saved for a project of a space is found by its members, and says where it is", async () => {
  const { ann, bob } = await team();
  const shared = { content: "The shop deploys on Tuesdays.", project: "acme/web" };
  const saved = await ann.send("POST", "/memories", { json: shared });
  expect(saved.body).toMatchObject({ ...shared, space: "acme" });
  await ann.save({ content: "My shop list has milk." });
  await bob.save({ content: "The shop of my brother sells bikes." });

  const [ofAnn, ofBob] = [await found(ann, "q=shop"), await found(bob, "q=shop")];
  const seen = (memories: typeof ofAnn) =>
    memories.map(({ content, space }) => `${space}: ${content}`).sort();
  expect(seen(ofAnn)).toEqual([
    "acme: The shop deploys on Tuesdays.",
    "null: My shop list has milk.",
  ]);
  expect(seen(ofBob)).toEqual([
    "acme: The shop deploys on Tuesdays.",
    "null: The shop of my brother sells bikes.",
  ]);
  expect(await found(bob, "q=shop&space=personal")).toMatchObject([{ space: null }]);
  expect(await found(bob, "q=shop&space=acme")).toMatchObject([{ space: "acme" }]);
  expect(await found(ann, "q=shop&project=other")).toMatchObject([{ space: null }]);
  expect(await found(ann, "q=shop&project=acme/web")).toHaveLength(2);
});

test("a search for a project leaves out the spaces in which it does not live", async () => {
  const { ann, space } = await team();
  await ann.send("POST", `/memories?space=${space.id}`, { json: { content: "Everybody's shop." } });
  expect(await found(ann, "q=shop")).toMatchObject([{ space: "acme" }]);
  expect(await found(ann, "q=shop&project=acme/web")).toMatchObject([{ space: "acme" }]);
  expect(await found(ann, "q=shop&project=other")).toEqual([]);
});

test("a key that may not read does not learn which space has a memory", async () => {
  const { ann, space } = await team();
  const { id } = await ann.save({ content: "The shop is closed.", project: "acme/web" });
  const key = await server.client(ann.accountId, ["memories:write"]);
  const change = { json: { content: "Changed." } };
  expect((await key.send("PUT", `/memories/${id}`, change)).status).toBe(404);
  expect((await key.send("DELETE", `/memories/${id}`)).status).toBe(404);
  // It may change what it knows.
  expect((await key.send("PUT", `/memories/${id}?space=${space.id}`, change)).status).toBe(200);
});

test("two members whose sessions have the same name recall the same", async () => {
  const { ann, bob, space } = await team();
  await ann.save({ content: "The shop deploys on Tuesdays.", project: "acme/web" });
  for (const person of [ann, bob]) {
    const recalled = await person.send("POST", "/memories/recall", {
      json: { session_id: "s", project: "acme/web" },
      headers: { "ctxd-space": space.id },
    });
    expect(recalled.body).toMatchObject({ text: expect.stringContaining("Tuesdays") });
  }
});

test("what somebody asks and recalls in a space is in their own activity", async () => {
  const { ann, bob, space } = await team();
  await ann.save({ content: "The shop deploys on Tuesdays.", project: "acme/web" });
  await found(bob, `q=shop&space=${space.id}`);
  await bob.send("POST", "/memories/recall", {
    json: { session_id: "s", project: "acme/web" },
    headers: { "ctxd-space": space.id },
  });
  await server.activity.flush();
  const kindsOf = async (accountId: string) =>
    (await server.activity.actors(accountId, "2020-01-01")).map(({ kind }) => kind).sort();
  expect(await kindsOf(space.id)).toEqual(["saved"]);
  expect(await kindsOf(bob.accountId)).toEqual(["recalled", "searched"]);
});

test("lists, counts and deletions are of one account: the person's, or the chosen space's", async () => {
  const { ann, space } = await team();
  await ann.save({ content: "Personal." });
  await ann.save({ content: "Shared.", project: "acme/web" });
  const contents = async (query: string, headers = {}) => {
    const { body } = await ann.send("GET", `/memories${query}`, { headers });
    return (body as { memories: { content: string }[] }).memories.map(({ content }) => content);
  };
  expect(await contents("")).toEqual(["Personal."]);
  expect(await contents("?space=acme")).toEqual(["Shared."]);
  expect(await contents(`?space=${space.id}`)).toEqual(["Shared."]);
  expect(await contents("", { "ctxd-space": "acme" })).toEqual(["Shared."]);
  const stats = await ann.send("GET", "/stats?space=acme");
  expect(stats.body).toMatchObject({ memories: 1 });
  const deleted = await ann.send("DELETE", "/memories?project=acme/web");
  expect(deleted.body).toEqual({ deleted: 0 });
  const inSpace = await ann.send("DELETE", "/memories?project=acme/web&space=acme");
  expect(inSpace.body).toEqual({ deleted: 1 });
});

test("a memory is read, changed and deleted by its id wherever it is, as the role allows", async () => {
  const { ann, bob } = await team();
  const { id } = await ann.save({ content: "Port 6543.", project: "acme/web" });
  const read = await bob.send("GET", `/memories/${id}`);
  expect(read.body).toMatchObject({ content: "Port 6543.", space: "acme" });
  expect((await bob.send("GET", `/memories/${id}/history`)).status).toBe(200);
  for (const [method, json] of [
    ["PUT", { content: "Port 1." }],
    ["DELETE", undefined],
  ] as const) {
    expect(await bob.send(method, `/memories/${id}`, { json })).toMatchObject({
      status: 403,
      body: { error: { code: "forbidden", message: expect.stringContaining("may read") } },
    });
  }
  const etag = (await ann.send("GET", `/memories/${id}`)).headers.get("etag") ?? "";
  const changed = await ann.send("PUT", `/memories/${id}`, {
    json: { content: "Port 6544." },
    headers: { "if-match": etag },
  });
  expect(changed).toMatchObject({ status: 200, body: { space: "acme" } });
  const superseding = { content: "Port 7000.", supersedes: id };
  const next = await ann.send("POST", "/memories", { json: superseding });
  expect(next).toMatchObject({ status: 201, body: { space: "acme", project: "acme/web" } });
  expect((await bob.send("POST", "/memories", { json: superseding })).status).toBe(403);
  const stranger = await addPerson(server, "eve");
  for (const method of ["GET", "DELETE"]) {
    expect((await stranger.send(method, `/memories/${id}`)).status).toBe(404);
  }
  expect((await ann.send("DELETE", `/memories/${id}?history=true`)).status).toBe(200);
});

test("what a reader saves for a project of a space stays personal", async () => {
  const { bob } = await team();
  const saved = await bob.send("POST", "/memories", {
    json: { content: "Mine.", project: "acme/web" },
  });
  expect(saved).toMatchObject({ status: 201, body: { space: null } });
  const there = await bob.send("POST", "/memories?space=acme", { json: { content: "No." } });
  expect(there.status).toBe(403);
});

test("a batch is of one account", async () => {
  const { ann } = await team();
  const shared = { content: "Shared.", project: "acme/web" };
  const mixed = await ann.send("POST", "/memories/batch", {
    json: { memories: [shared, { content: "Personal." }] },
  });
  expect(mixed).toMatchObject({ status: 422 });
  const both = await ann.send("POST", "/memories/batch", {
    json: { memories: [shared, { ...shared, content: "Too." }] },
  });
  expect(both).toMatchObject({ status: 201, body: { memories: [{ space: "acme" }, {}] } });
});

test("who is removed reads nothing of the space from the next request on", async () => {
  const { ann, bob, space } = await team();
  const { id } = await ann.save({ content: "Only for members.", project: "acme/web" });
  const key = await server.client(bob.accountId, undefined, null, space.id);
  expect(await found(bob, "q=members")).toHaveLength(1);
  expect((await key.send("GET", "/memories")).status).toBe(200);
  await server.spaces.removeMember(ann.accountId, space.id, bob.accountId);
  expect(await found(bob, "q=members")).toEqual([]);
  expect((await bob.send("GET", `/memories/${id}`)).status).toBe(404);
  expect((await bob.send("GET", "/memories?space=acme")).status).toBe(404);
  expect((await key.send("GET", "/memories")).status).toBe(401);
});

test("a key that is bound to a space reaches nothing else", async () => {
  const { ann, space } = await team();
  const other = await server.spaces.create(ann.accountId, "other");
  const mine = await ann.save({ content: "Personal." });
  const key = await server.client(ann.accountId, undefined, null, space.id);
  const saved = await key.send("POST", "/memories", { json: { content: "By the key." } });
  expect(saved.body).toMatchObject({ space: "acme" });
  expect((await key.send("GET", `/memories/${mine.id}`)).status).toBe(404);
  for (const wanted of ["personal", "other", other.id, "nobody's"]) {
    expect((await key.send("GET", `/memories?space=${wanted}`)).status).toBe(403);
  }
  expect((await key.send("GET", "/spaces")).body).toMatchObject({ spaces: [{ name: "acme" }] });
  const capture = { agent: "codex", session_id: "s", turns: [{ role: "user", content: "Hi." }] };
  const captured = await key.send("POST", "/memories/capture", { json: capture });
  expect(captured.status).toBe(403);
});

test("a key that is bound to a project sees only spaces in which the project lives", async () => {
  const { ann } = await team();
  const other = await server.spaces.create(ann.accountId, "other");
  await ann.send("POST", `/memories?space=${other.id}`, { json: { content: "Bikes." } });
  const key = await server.client(ann.accountId, undefined, { project: "acme/web", only: false });
  await key.save({ content: "Bikes of the web." });
  expect(await found(key as typeof ann, "q=bikes")).toMatchObject([
    { content: "Bikes of the web.", space: "acme" },
  ]);
  expect((await key.send("GET", "/memories?space=other")).status).toBe(404);
});

test("for who has no space, nothing changes", async () => {
  const eve = await addPerson(server, "eve");
  const saved = await eve.save({ content: "Alone.", project: "acme/web" });
  expect(saved).not.toHaveProperty("space");
  expect((await found(eve, "q=alone"))[0]).not.toHaveProperty("space");
  expect(await eve.send("GET", "/memories?space=acme")).toMatchObject({
    status: 404,
    body: { error: { code: "not_found" } },
  });
});
