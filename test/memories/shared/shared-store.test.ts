import { expect, test } from "bun:test";
import { OutcomeUnknown } from "../../../src/db/database-error.ts";
import { AppError } from "../../../src/errors.ts";
import { wholeAccount } from "../../../src/keys/reach.ts";
import { AT_ONCE, createReplicas, type Replica, SOON } from "../../support/shared-stores.ts";
import { until } from "../../support/until.ts";

const ID = "acc_1";
const contents = async ({ memories }: Replica, accountId = ID) =>
  (await memories.list(wholeAccount(accountId), { filter: {}, limit: 100 })).memories
    .map(({ content }) => content)
    .sort();
const save = async ({ memories }: Replica, content: string, idempotencyKey?: string) => {
  const [memory] = await memories.saveAll(wholeAccount(ID), [{ content }], {
    ...(idempotencyKey && { idempotencyKey }),
  });
  if (!memory) throw new Error("nothing was saved");
  return memory;
};
const codeOf = (task: Promise<unknown>) =>
  task.then(
    () => null,
    (error) => (error instanceof AppError ? error.code : String(error)),
  );

test("every server sees a save, a change and a removal as soon as one has answered it", async () => {
  const { replica } = await createReplicas([ID]);
  const [a, b] = [await replica(), await replica()];
  expect(await contents(b)).toEqual([]);
  const memory = await save(a, "written by a");
  expect(await contents(b)).toEqual(["written by a"]);
  await b.memories.update(wholeAccount(ID), memory.id, { content: "changed by b" });
  expect((await a.memories.get(wholeAccount(ID), memory.id)).content).toBe("changed by b");
  const asked = { query: "changed", filter: {}, limit: 9, minScore: 0, mode: "hybrid" } as const;
  expect((await a.memories.search(wholeAccount(ID), asked)).memories).toHaveLength(1);
  await a.memories.remove(wholeAccount(ID), memory.id);
  expect(await codeOf(b.memories.get(wholeAccount(ID), memory.id))).toBe("memory_not_found");
  expect(await contents(b)).toEqual([]);
});

test("no server says of the files of all that they have no deleted data", async () => {
  const { replica } = await createReplicas([ID]);
  const { store } = await replica();
  expect(await store.use(ID, async (open) => open.hasRemains())).toBeNull();
});

test("simultaneous writes of several servers are neither lost nor duplicated", async () => {
  const { replica } = await createReplicas([ID]);
  const all = [await replica(), await replica(), await replica()];
  const wanted = Array.from({ length: 60 }, (_, n) => `number ${n}`);
  await Promise.all(
    wanted.map((content, n) => {
      const at = all[n % 3];
      return at && save(at, content);
    }),
  );
  for (const each of all) expect(await contents(each)).toEqual([...wanted].sort());
});

test("of changes with the same If-Match on several servers one is made", async () => {
  const { replica } = await createReplicas([ID]);
  const [a, b] = [await replica(), await replica()];
  const { id } = await save(a, "first");
  for (let round = 0; round < 5; round++) {
    const { content } = await a.memories.get(wholeAccount(ID), id);
    const changes = [a, b, a, b].map(({ memories }, n) =>
      codeOf(
        memories.update(
          wholeAccount(ID),
          id,
          { content: `round ${round}, ${n}` },
          { isExpected: (memory) => memory.content === content },
        ),
      ),
    );
    const codes = (await Promise.all(changes)).sort();
    const refused = "precondition_failed";
    expect(codes).toEqual([null, refused, refused, refused].sort());
  }
});

test("a request that is sent to two servers with one idempotency key takes effect once", async () => {
  const { replica } = await createReplicas([ID]);
  const [a, b] = [await replica(), await replica()];
  const tries = [a, b, a, b].map((each) => save(each, "once", "key"));
  const ids = new Set((await Promise.all(tries)).map(({ id }) => id));
  expect(ids.size).toBe(1);
  expect(await contents(a)).toEqual(["once"]);
  const other = await codeOf(save(b, "another text", "key"));
  expect(other).toBe("validation_failed");
});

test("writes on several servers do not exceed a quota", async () => {
  const { replica } = await createReplicas([ID]);
  const quotaOf = async () => ({ memories: 5, bytes: null });
  const [a, b] = [await replica({ quotaOf }), await replica({ quotaOf })];
  const codes = await Promise.all(
    Array.from({ length: 20 }, (_, n) => codeOf(save(n % 2 ? a : b, `number ${n}`))),
  );
  expect(codes.filter((code) => code === null)).toHaveLength(5);
  expect(codes.filter((code) => code === "conflict")).toHaveLength(15);
  expect(await contents(a)).toHaveLength(5);
});

test("after a flush by one server the others read its base, and keep no deleted data", async () => {
  const { replica, bases } = await createReplicas([ID]);
  const [a, b] = [await replica({ due: AT_ONCE }), await replica()];
  const forgotten = await save(a, "to be forgotten");
  await save(b, "to be kept");
  expect(await contents(b)).toHaveLength(2);
  const baseOf = async () => (await a.log.head(ID))?.checkpoint?.base ?? null;
  await until("the flush", async () => (await baseOf()) !== null);
  await b.memories.remove(wholeAccount(ID), forgotten.id);
  await until("the flush", async () => {
    const entries = await a.log.entries(ID);
    return entries.length === 0;
  });
  const base = await baseOf();
  for (const each of [a, b]) {
    expect(await contents(each)).toEqual(["to be kept"]);
    await until("the flush", async () => {
      await each.sweep.recorded();
      await each.sweep.cached();
      const here = await each.storage.vault.bases();
      return here.length === 1 && here[0] === base;
    });
  }
  expect(await bases()).toEqual([base ?? ""]);
});

test("a server that has missed flushed entries reads the base", async () => {
  const { replica } = await createReplicas([ID]);
  const late = await replica({ following: { ...SOON, heads: 1e9 } });
  const a = await replica({ due: AT_ONCE });
  const memory = await save(a, "first");
  expect(await contents(late)).toEqual(["first"]);
  for (const content of ["second", "third"]) {
    await a.memories.update(wholeAccount(ID), memory.id, { content });
    await save(a, `beside the ${content}`);
    await until("the flush", async () => (await a.log.entries(ID)).length === 0);
    await until("the log being trimmed", async () => (await a.log.size()) === 0);
    if (content === "second") continue;
    // A write notices it like a read.
    await save(late, "of the late one");
  }
  const all = ["beside the second", "beside the third", "of the late one", "third"];
  for (const each of [late, a]) expect(await contents(each)).toEqual(all);
});

test("a starting server reads the base and the log of others", async () => {
  const { replica } = await createReplicas([ID]);
  const a = await replica({ due: AT_ONCE });
  await save(a, "flushed");
  await until("the flush", async () => (await a.log.head(ID))?.checkpoint != null);
  await a.store.close();
  const b = await replica();
  await save(b, "in the log");
  const c = await replica();
  expect(await contents(c)).toEqual(["flushed", "in the log"]);
});

test("a removed account stays removed, and servers that have it open refuse it", async () => {
  const { replica, postgres, bases } = await createReplicas([ID]);
  const [a, b] = [await replica({ due: AT_ONCE }), await replica()];
  await save(a, "of the account");
  await contents(b);
  await until("the flush", async () => (await bases()).length > 0);
  await postgres.rows("DELETE FROM accounts WHERE id = $1", [ID]);
  await a.store.drop(ID);
  expect(await codeOf(save(b, "late"))).toBe("not_found");
  expect(await codeOf(b.memories.list(wholeAccount(ID), { filter: {}, limit: 9 }))).toBe(
    "not_found",
  );
  await a.sweep.recorded();
  expect(await bases()).toEqual([]);
  expect(await a.log.tables()).toEqual([]);
  await b.store.drop(ID);
});

test("another server flushes the log of one that has ended", async () => {
  const { replica, bases } = await createReplicas([ID]);
  const overdue = { flush: 0, forget: 0 };
  const a = await replica({ overdue });
  await save(a, "left");
  await a.store.close();
  const b = await replica();
  await until("the flush", async () => (await b.log.entries(ID)).length === 0);
  expect(await bases()).toHaveLength(1);
  expect(await contents(b)).toEqual(["left"]);
});

test("a write with a lost answer is not repeated when its entry is flushed already", async () => {
  const { replica } = await createReplicas([ID]);
  const b = await replica({ due: AT_ONCE });
  let losesAnswers = false;
  const a = await replica({
    wrapLog: (log) => ({
      ...log,
      async append(table, entry) {
        const seq = await log.append(table, entry);
        if (!losesAnswers) return seq;
        losesAnswers = false;
        await contents(b);
        await until("the flush", async () => (await log.entries(ID)).length === 0);
        throw new OutcomeUnknown(new Error("the connection was lost"));
      },
    }),
  });
  await save(a, "before");
  losesAnswers = true;
  expect(await codeOf(save(a, "once"))).toBe("unavailable");
  expect(await contents(a)).toEqual(["before", "once"]);
});

test("without the object store open tables work, and the others recover afterwards", async () => {
  const { replica, objects } = await createReplicas([ID]);
  const a = await replica({ due: AT_ONCE });
  await save(a, "flushed");
  await until("the flush", async () => (await a.log.entries(ID)).length === 0);
  objects.isAway = true;
  await save(a, "meanwhile");
  expect(await contents(a)).toEqual(["flushed", "meanwhile"]);
  const b = await replica();
  expect(await codeOf(contents(b))).toBe("unavailable");
  objects.isAway = false;
  expect(await contents(b)).toEqual(["flushed", "meanwhile"]);
  await until("the flush", async () => (await a.log.entries(ID)).length === 0);
});
