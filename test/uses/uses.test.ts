import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { moveIntoSpace } from "../../src/spaces/moving.ts";
import { createUses } from "../../src/uses/uses.ts";
import { contentsOf } from "../support/client.ts";
import { silentLog } from "../support/embedder.ts";
import { expectInvalid } from "../support/errors.ts";
import { startServer } from "../support/server.ts";
import { addPerson, join } from "../support/space-team.ts";
import { until } from "../support/until.ts";

const server = await startServer();
afterAll(server.close);
const DAY = 86_400_000;

async function usesOf(accountId: string, id: string) {
  await server.uses.flush();
  return (await server.uses.of(accountId, [id])).get(id) ?? null;
}

test("finds, recalls and uses of a memory are counted", async () => {
  const ada = await server.account();
  const [tea, sea] = await ada.saveAll([{ content: "Ada drinks tea" }, { content: "the sea" }]);
  const [id, other] = [tea?.id ?? "", sea?.id ?? ""];
  await ada.get(id);
  // It was opened without being found.
  expect(await usesOf(ada.accountId, id)).toBeNull();

  await ada.search("tea");
  server.clock.advance(5);
  await ada.search("tea");
  await ada.send("POST", "/memories/recall", { json: { prompt: "who drinks tea?" } });
  const found = { found: 2, recalled: expect.any(Number), used: 0, foundAt: server.clock() };
  expect(await usesOf(ada.accountId, id)).toMatchObject(found);
  await ada.get(id);
  await ada.update(id, { importance: 0.9 });
  await ada.save({ content: "Ada drinks coffee", supersedes: id });
  const used = { found: 2, used: 3, usedAt: server.clock() };
  expect(await usesOf(ada.accountId, id)).toMatchObject(used);
  await ada.update(other, { importance: 0.9 });
  expect(await usesOf(ada.accountId, other)).toMatchObject({ used: 1, foundAt: expect.anything() });
});

test("what is recalled is counted as recalled, and not as found", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "Atlas is deployed on Fridays", project: "atlas" });
  const json = { session_id: "s", project: "atlas" };
  await ada.send("POST", "/memories/recall", { json });
  expect(await usesOf(ada.accountId, id)).toMatchObject({ found: 0, recalled: 1, used: 0 });
});

test("what is found while somebody types is not counted", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "tea" });
  await server.memories.search(wholeAccount(ada.accountId), {
    ...{ query: "tea", limit: 5, filter: {} },
    isTyped: true,
  });
  expect(await usesOf(ada.accountId, id)).toBeNull();
});

test("the uses of a memory go when it is deleted", async () => {
  const ada = await server.account();
  const saved = await ada.saveAll([
    { content: "tea one" },
    { content: "tea two", tags: ["x"] },
    { content: "tea three" },
  ]);
  await ada.search("tea");
  await server.uses.flush();
  expect((await server.uses.timesFound(ada.accountId)).size).toBe(3);
  const [one = "", , three = ""] = saved.map(({ id }) => id);
  await ada.remove(one);
  await ada.removeMatching({ tags: "x" });
  expect([...(await server.uses.timesFound(ada.accountId)).keys()]).toEqual([three]);
});

test("uses that are written after the memory was deleted leave no row", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "tea" });
  await ada.search("tea");
  await ada.remove(id);
  expect(await usesOf(ada.accountId, id)).toBeNull();
});

test("the uses of a memory go when it expires, and when it moves into a space", async () => {
  await using soon = await startServer({
    expiry: { every: 20, jump: Number.POSITIVE_INFINITY, restAfterJump: 0, retryAfter: 50 },
  });
  const ann = await addPerson(soon, "ann");
  const save = (content: string, more = {}) =>
    soon.memories.save(wholeAccount(ann.accountId), { content, ...more });
  const { memory: brief } = await save("the office is closed", {
    expires_at: new Date(soon.clock() + DAY).toISOString(),
  });
  const { memory: shared } = await save("the shop deploys on Tuesdays", { project: "acme/web" });
  soon.uses.record("found", [ann.accountId], [brief.id, shared.id]);
  await soon.uses.flush();
  expect((await soon.uses.timesFound(ann.accountId)).size).toBe(2);

  soon.clock.advance(2 * DAY);
  await until("only the other one is counted", async () => {
    const left = [...(await soon.uses.timesFound(ann.accountId)).keys()];
    return (left.length === 1 && left[0] === shared.id) || null;
  });

  const space = await soon.spaces.create(ann.accountId, "acme");
  const moved = await moveIntoSpace(soon.memories, wholeAccount(ann.accountId), space, {
    ...{ project: "acme/web", stillAllowed: async () => {} },
    source: { via: "dashboard", by: "ann@example.com", id: ann.accountId },
  });
  expect(moved).toEqual({ moved: 1, kept: 0 });
  for (const accountId of [ann.accountId, space.id]) {
    expect((await soon.uses.timesFound(accountId)).size).toBe(0);
  }
  soon.uses.record("found", [ann.accountId, space.id], [shared.id]);
  await soon.uses.flush();
  expect((await soon.uses.timesFound(space.id)).get(shared.id)).toBe(1);
});

test("what is opened on another server counts once the server of the search has written", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "tea" });
  const other = createUses({ ...server, log: silentLog });
  server.uses.record("found", [ada.accountId], [id]);
  other.record("opened", [ada.accountId], [id]);
  await other.flush();
  expect(await usesOf(ada.accountId, id)).toMatchObject({ found: 1, used: 0 });
  other.record("opened", [ada.accountId], [id]);
  await other.close();
  expect(await usesOf(ada.accountId, id)).toMatchObject({ found: 1, used: 1 });
});

test("a memory that is deleted between reading and writing leaves no row", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "tea" });
  let positions = 0;
  const uses = createUses({
    ...server,
    log: silentLog,
    store: {
      use: server.store.use,
      position: async (accountId) => `${await server.store.position(accountId)} ${positions++}`,
    },
    db: {
      ...server.db,
      attempt: async (task) => {
        await ada.remove(id);
        return await server.db.attempt(task);
      },
    },
  });
  uses.record("found", [ada.accountId], [id]);
  await uses.close();
  expect((await uses.of(ada.accountId, [id])).size).toBe(0);
});

test("uses whose write fails are written later, and further ones are added to them", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "tea" });
  let fails = true;
  const attempt: typeof server.db.attempt = async (task) =>
    fails ? false : await server.db.attempt(task);
  const uses = createUses({ ...server, log: silentLog, db: { ...server.db, attempt } });
  uses.record("found", [ada.accountId], [id]);
  await uses.flush();
  uses.record("found", [ada.accountId], [id]);
  fails = false;
  await uses.close();
  expect((await uses.of(ada.accountId, [id])).get(id)).toMatchObject({ found: 2 });
});

test("uses are written once, also if what follows their write fails", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "tea" });
  let isWritten = false;
  const uses = createUses({
    ...{ ...server, log: silentLog },
    store: {
      use: server.store.use,
      position: async (accountId) => {
        if (isWritten) throw new Error("the disk is full");
        return await server.store.position(accountId);
      },
    },
    db: {
      ...server.db,
      attempt: async (task) => {
        isWritten = await server.db.attempt(task);
        return isWritten;
      },
    },
  });
  uses.record("found", [ada.accountId], [id]);
  await uses.flush();
  isWritten = false;
  await uses.close();
  expect((await uses.of(ada.accountId, [id])).get(id)).toMatchObject({ found: 1 });
});

test("uses of a space's memories belong to the space, and no account sees those of others", async () => {
  const [ann, bob] = [await addPerson(server, "ann"), await addPerson(server, "bob")];
  const space = await server.spaces.create(ann.accountId, "acme");
  await server.spaces.change(ann.accountId, space.id, { projects: ["acme/web"] });
  await join(server, space, bob, "read");
  const saved = await ann.send("POST", "/memories", {
    json: { content: "The shop deploys on Tuesdays.", project: "acme/web" },
  });
  const { id } = Object(saved.body);
  await bob.send("GET", "/memories/search?q=shop");
  // Another replica may write that it was opened.
  await server.uses.flush();
  await bob.send("GET", `/memories/${id}`);
  expect(await usesOf(space.id, id)).toMatchObject({ found: 1, used: 1 });
  for (const { accountId } of [ann, bob]) {
    expect((await server.uses.timesFound(accountId)).size).toBe(0);
  }
  // A caller can't count for a memory of another account.
  const eve = await server.account();
  server.uses.record("found", [eve.accountId], [id]);
  expect(await usesOf(space.id, id)).toMatchObject({ found: 1 });
  await server.accounts.remove(space.id);
  expect(await usesOf(space.id, id)).toBeNull();
});

test("an account that stops counting has no counts, and begins anew", async () => {
  const ada = await server.account();
  const { id } = await ada.save({ content: "tea" });
  await ada.search("tea");
  await server.uses.flush();
  await ada.search("tea");
  await server.uses.keep(ada.accountId, false);
  expect(await server.uses.since(ada.accountId)).toBeNull();
  expect(await usesOf(ada.accountId, id)).toBeNull();
  server.clock.advance(DAY);
  await server.uses.keep(ada.accountId, true);
  expect(await server.uses.since(ada.accountId)).toEqual(new Date(server.clock()));
  await ada.search("tea");
  expect(await usesOf(ada.accountId, id)).toMatchObject({ found: 1 });
});

test("nothing was never found until counting has lasted long enough", async () => {
  const ada = await server.account();
  const saved = await ada.saveAll([
    { content: "found once" },
    { content: "sea" },
    { content: "pinned", pinned: true },
  ]);
  const [once = "", never = "", pinned = ""] = saved.map(({ id }) => id);
  const { accountId } = ada;
  server.uses.record("found", [accountId], [once]);
  server.clock.advance(100 * DAY);
  await ada.save({ content: "young sea" });
  const listed = async () => {
    await server.uses.flush();
    return await server.uses.neverFound(accountId, server.clock() - 180 * DAY);
  };
  expect(await listed()).toBeNull();
  server.clock.advance(79 * DAY);
  expect(await listed()).toBeNull();
  server.uses.record("recalled", [accountId], [once]);
  server.clock.advance(2 * DAY);
  expect(await listed()).toEqual([never]);
  server.clock.advance(180 * DAY);
  expect(await listed()).toContain(once);
  expect(await listed()).not.toContain(pinned);
  await server.uses.keep(accountId, false);
  await server.uses.keep(accountId, true);
  expect(await listed()).toBeNull();
});

test("lists by use are complete in both directions, also when memories are deleted meanwhile", async () => {
  const ada = await server.account();
  const saved = await ada.saveAll(
    Array.from({ length: 12 }, (_, index) => ({ content: `memory ${index}` })),
  );
  const times = [3, 0, 7, 1, 0, 3];
  for (const [index, count] of times.entries()) {
    const ids = [saved[index]?.id ?? ""];
    for (let time = 0; time < count; time++) server.uses.record("found", [ada.accountId], ids);
  }
  await server.uses.flush();
  const expected = [2, 5, 0, 3, 11, 10, 9, 8, 7, 6, 4, 1].map((index) => `memory ${index}`);
  for (const [sort, wanted] of [
    ["most_found", expected],
    ["never_found", expected.toReversed()],
  ] as const) {
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await ada.list({ sort, limit: 5, ...(cursor && { cursor }) });
      seen.push(...contentsOf(page.memories));
      cursor = page.next_cursor;
    } while (cursor);
    expect(seen).toEqual([...wanted]);
  }
  const reach = wholeAccount(ada.accountId);
  const order = "most_found" as const;
  const first = await server.memories.list(reach, { filter: {}, limit: 5, order });
  const cursor = first.nextCursor ?? "";
  const second = await server.memories.list(reach, { filter: {}, limit: 5, order, cursor });
  const back = second.previousCursor ?? "";
  const again = await server.memories.list(reach, { filter: {}, limit: 5, order, cursor: back });
  expect(contentsOf(again.memories)).toEqual(contentsOf(first.memories));
  await ada.remove(first.memories.at(-1)?.id ?? "");
  const rest = await server.memories.list(reach, { filter: {}, limit: 20, order, cursor });
  expect(contentsOf(rest.memories)).toEqual(expected.slice(6));
  const wrong = `/memories?sort=never_found&cursor=${cursor}`;
  expectInvalid(await ada.send("GET", wrong), "/cursor");
});
