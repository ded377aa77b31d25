import { expect, test } from "bun:test";
import { createEmbedders } from "../../../src/embedding/chosen-model.ts";
import { wholeAccount } from "../../../src/keys/reach.ts";
import { fakeEmbedder } from "../../support/fake-embedder.ts";
import { AT_ONCE, createReplicas, type Replica } from "../../support/shared-stores.ts";
import { until } from "../../support/until.ts";

const ID = "acc_1";
const OLD = { id: "old", dimension: 16 };
const NEW = { id: "new", dimension: 24 };
const ALL = { filter: {}, limit: 100 };

const withModel = (wanted: typeof OLD, other: typeof OLD) =>
  createEmbedders(fakeEmbedder(wanted), () => fakeEmbedder(other));

const contents = async ({ memories }: Replica) =>
  (await memories.list(wholeAccount(ID), ALL)).memories.map(({ content }) => content).sort();
const modelOf = ({ store }: Replica) => store.use(ID, async ({ table }) => table.model.id);

test("one server copies a table for another model while servers with the old model write", async () => {
  const { replica, bases } = await createReplicas([ID]);
  const old = await replica({ embedders: withModel(OLD, NEW), due: AT_ONCE });
  const first = Array.from({ length: 40 }, (_, n) => ({ content: `number ${n}` }));
  const made = await old.memories.saveAll(wholeAccount(ID), first);
  const wanted = new Set(first.map(({ content }) => content));

  const [a, b] = await Promise.all(
    [0, 1].map(() => replica({ embedders: withModel(NEW, OLD), due: AT_ONCE })),
  );
  if (!a || !b) throw new Error("no servers");
  for (const [n, { id, content }] of made.entries()) {
    if (n % 4 === 0) await old.memories.remove(wholeAccount(ID), id);
    if (n % 4 === 1) await b.memories.update(wholeAccount(ID), id, { content: `changed ${n}` });
    if (n % 4 === 2) await a.memories.saveAll(wholeAccount(ID), [{ content: `added ${n}` }]);
    if (n % 4 < 2) wanted.delete(content);
    if (n % 4 === 1) wanted.add(`changed ${n}`);
    if (n % 4 === 2) wanted.add(`added ${n}`);
  }
  await until("the other model", async () => (await modelOf(old)) === NEW.id);
  for (const each of [old, a, b]) {
    expect(await modelOf(each)).toBe(NEW.id);
    expect(await contents(each)).toEqual([...wanted].sort());
  }
  await until(
    "the end of it",
    () => a.store.reembedded() === null && b.store.reembedded() === null,
  );
  expect((await a.log.tables()).length).toBe(1);
  await until("the former base being gone", async () => {
    await a.sweep.recorded();
    const [base] = await bases();
    return base !== undefined && (await bases()).length === 1 && base.startsWith(`${ID}.`);
  });
});

test("a server writes to its finished copy before it knows that the copy has replaced the table", async () => {
  const { replica } = await createReplicas([ID]);
  const old = await replica({ embedders: withModel(OLD, NEW) });
  await old.memories.saveAll(wholeAccount(ID), [{ content: "before" }]);

  const [replaced, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const copying = await replica({
    embedders: withModel(NEW, OLD),
    wrapLog: (log) => {
      const replace: typeof log.shared.replace = async (...call) => {
        const isDone = await log.shared.replace(...call);
        replaced.resolve();
        await answered.promise;
        return isDone;
      };
      return { ...log, shared: { ...log.shared, replace } };
    },
  });
  await replaced.promise;
  try {
    await copying.memories.saveAll(wholeAccount(ID), [{ content: "after" }]);
  } finally {
    answered.resolve();
  }
  for (const each of [old, copying]) expect(await contents(each)).toEqual(["after", "before"]);
});

test("a server that is stopped while it copies writes nothing into the finished copy of another one", async () => {
  const { replica } = await createReplicas([ID]);
  const old = await replica({ embedders: withModel(OLD, NEW) });
  await old.memories.saveAll(wholeAccount(ID), [{ content: "first" }, { content: "second" }]);

  const [held, reached] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = fakeEmbedder(NEW);
  const embedContent: typeof slow.embedContent = async (text) => {
    reached.resolve();
    await held.promise;
    return await slow.embedContent(text);
  };
  const stopped = await replica({
    embedders: createEmbedders({ ...slow, embedContent }, () => fakeEmbedder(OLD)),
    leaseLasts: 1,
  });
  await reached.promise;
  const other = await replica({ embedders: withModel(NEW, OLD) });
  await until("the other model", async () => (await modelOf(other)) === NEW.id);
  const [memory] = (await other.memories.list(wholeAccount(ID), ALL)).memories;
  if (!memory) throw new Error("no memory");
  await other.memories.update(wholeAccount(ID), memory.id, { content: "changed since" });
  const present = await contents(other);
  held.resolve();
  await until("the stopped one", () => stopped.store.reembedded() === null);
  for (const each of [stopped, other, old]) expect(await contents(each)).toEqual(present);
  expect(present).toContain("changed since");
});
