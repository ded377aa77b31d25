import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createSpaceInvitations } from "../../src/accounts/space-invitations.ts";
import { createSpaces } from "../../src/accounts/spaces.ts";
import { createActivity } from "../../src/activity/activity.ts";
import { databasePath } from "../../src/db/data-lock.ts";
import { hashSecret } from "../../src/db/id.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { migrateSqlite } from "../../src/db/sqlite-files.ts";
import { createKeys } from "../../src/keys/keys.ts";
import { generateKey } from "../../src/keys/new-key.ts";
import { inSpace, wholeAccount } from "../../src/keys/reach.ts";
import { watchRemovedAccounts } from "../../src/memories/background/removed-accounts.ts";
import { createUndoable } from "../../src/undo/undoable.ts";
import { filesWith, untilGone } from "../crash/traces.ts";
import { silentLog } from "../support/embedder.ts";
import { backUp, folderOfTest, HASTY, openData, restore } from "../support/live-data.ts";
import { until } from "../support/until.ts";

const place = folderOfTest();
afterAll(() => place[Symbol.dispose]());

/** The data in a folder, with the stores of spaces and keys. */
async function openAt(name: string) {
  const dataDir = join(place.path, name);
  const data = await openData(dataDir, HASTY);
  const stores = { db: data.db, clock: Date.now };
  return {
    ...data,
    dataDir,
    spaces: createSpaces(stores),
    invitations: createSpaceInvitations(stores),
    keys: createKeys(stores),
    activity: createActivity({ ...stores, log: silentLog }),
  };
}

/** A space of two people with a memory, and a key of one that is bound to it. */
async function team(data: Awaited<ReturnType<typeof openAt>>, content: string) {
  const ann = await data.accounts.add({ email: "ann@example.com", password: null });
  const bob = await data.accounts.add({ email: "bob@example.com", password: null });
  const space = await data.spaces.create(ann.id, "acme");
  await data.spaces.change(ann.id, space.id, { projects: ["acme/web"] });
  const invite = () => data.invitations.create(ann.id, space.id, { email: null, role: "write" });
  await data.invitations.acceptLink(bob, (await invite()).secret);
  const { secret } = await invite();
  const wanted = { name: "k", scopes: ["memories:read"], expiresAt: null } as const;
  const { key } = await data.keys.create(bob.id, { ...wanted, spaceId: space.id });
  const reach = inSpace(wholeAccount(bob.id), { ...space, role: "write" });
  await data.memories.saveAll(reach, [{ content, tags: [content] }], { idempotencyKey: content });
  return { ann, bob, space, secret, key };
}

test("a restored backup has the spaces, their members and memories, and no open invitation", async () => {
  const data = await openAt("data");
  const { ann, bob, space, secret, key } = await team(data, "kumquat");
  const members = await data.spaces.members(space.id);
  expect(await data.invitations.find(secret)).not.toBeNull();
  await data.close();
  await backUp(data.dataDir, join(place.path, "backup"));
  await restore(join(place.path, "backup"), join(place.path, "restored"));

  const restored = await openAt("restored");
  expect((await restored.spaces.admit(ann.id))?.spaces).toEqual([
    { ...space, projects: ["acme/web"] },
  ]);
  expect(await restored.spaces.members(space.id)).toEqual(members);
  expect(await restored.keys.authenticate(key)).toMatchObject({ spaceId: space.id });
  // Like other invitations: it may have been used since the backup.
  expect(await restored.invitations.find(secret)).toBeNull();
  const found = await restored.memories.list(wholeAccount(space.id), { filter: {}, limit: 10 });
  expect(found.memories).toMatchObject([{ content: "kumquat" }]);
  // Whoever leaves loses the key there too.
  await restored.spaces.removeMember(ann.id, space.id, bob.id);
  expect(await restored.keys.authenticate(key)).toBeNull();
  await restored.close();
});

test("data of the version before spaces opens, and its people can make spaces", async () => {
  const dataDir = join(place.path, "earlier");
  mkdirSync(dataDir);
  const sqlite = new Database(databasePath(dataDir));
  migrateSqlite(sqlite, MIGRATIONS.slice(0, 19));
  const key = generateKey();
  sqlite.run(
    `INSERT INTO accounts (id, email, role, created_at) VALUES ('acc_1', 'ann@example.com', 'owner', 1)`,
  );
  sqlite.run(
    `INSERT INTO api_keys (id, account_id, hash, prefix, name, scopes, created_at)
     VALUES ('key_1', 'acc_1', ?, 'ctx_', 'k', 'memories:read', 1)`,
    [hashSecret(key)],
  );
  sqlite.run(
    `INSERT INTO waiting_changes (id, account_id, due_at, change)
     VALUES ('wait_1', 'acc_1', 1, '{"kind":"delete","ids":[]}')`,
  );
  sqlite.close();

  const data = await openAt("earlier");
  expect(await data.keys.authenticate(key)).toMatchObject({ accountId: "acc_1", spaceId: null });
  expect((await data.spaces.admit("acc_1"))?.spaces).toEqual([]);
  const { db, memories } = data;
  const { admit } = data.spaces;
  const undoable = createUndoable({ db, memories, admit, clock: Date.now, log: silentLog });
  await undoable.applyDue();
  expect(await undoable.list("acc_1")).toEqual([]);
  const space = await data.spaces.create("acc_1", "acme");
  expect((await data.spaces.admit("acc_1"))?.spaces).toEqual([space]);
  await undoable.close();
  await data.close();
});

test.each(["deleted", "left without a member by a removed account"] as const)(
  "of a space that is %s nothing stays",
  async (how) => {
    const content = how === "deleted" ? "rambutan" : "durian";
    const data = await openAt(content);
    const { ann, bob, space } = await team(data, content);
    const source = { id: bob.id, by: "bob" };
    data.activity.record({
      ...{ accountId: space.id, source, agent: null, kind: "saved", memories: 1 },
      ...{ memoryId: null, query: null },
    });
    await data.activity.flush();
    await data.store.use(space.id, ({ table }) => table.count({}));
    expect(filesWith(data.dataDir, [content])).not.toEqual([]);
    if (how === "deleted") await data.spaces.remove(ann.id, space.id);
    else {
      await data.spaces.removeMember(ann.id, space.id, bob.id);
      await data.accounts.remove(bob.id);
      // The owner's account is the last one.
      await data.accounts.remove(ann.id);
    }
    const stop = watchRemovedAccounts({ ...data, log: silentLog });
    expect(await untilGone(data.dataDir, [content], 30_000)).toEqual([]);
    // The removed account is forgotten after its memories.
    await until("forgotten", async () => (await data.accounts.removed()).length === 0);
    stop();
    await data.activity.close();
    await data.close();
    // Neither idempotency keys nor activity, nor anything else by its id.
    expect(filesWith(data.dataDir, [space.id])).toEqual([]);
  },
);
