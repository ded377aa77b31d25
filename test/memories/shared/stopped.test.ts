import { expect, test } from "bun:test";
import { wholeAccount } from "../../../src/keys/reach.ts";
import { FLUSH_STEPS, SHARED_STEPS } from "../../support/flush-steps.ts";
import { AT_ONCE, createReplicas, type Replica } from "../../support/shared-stores.ts";
import { until } from "../../support/until.ts";

const ID = "acc_1";
const STEPS: readonly string[] = [...SHARED_STEPS, ...FLUSH_STEPS];

const contents = async ({ memories }: Replica) =>
  (await memories.list(wholeAccount(ID), { filter: {}, limit: 1_000 })).memories
    .map(({ content }) => content)
    .sort();
const save = async ({ memories }: Replica, content: string) => {
  await memories.saveAll(wholeAccount(ID), [{ content }]);
};
const isFlushed = async ({ log }: Replica) => {
  const head = await log.head(ID);
  return head !== null && head.seq === head.checkpoint?.upTo;
};

/** Enough memories for appends and an index. */
const first = Array.from({ length: 12 }, (_, n) => ({ content: `number ${n}` }));

test.each(STEPS)(
  "a server that is stopped past its lease after '%s' changes nothing when it continues",
  async (step) => {
    const { replica, bases } = await createReplicas([ID]);
    const [reached, held] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const due = { ...AT_ONCE, largeRows: 8, indexAfter: 50 };
    const stopped = await replica({
      due,
      leaseLasts: 1,
      async step(done) {
        if (done !== step) return;
        reached.resolve();
        await held.promise;
      },
    });
    await stopped.memories.saveAll(wholeAccount(ID), first);
    // Otherwise the other server starts later: if it flushed every other time, no base would be appended
    // to.
    const isOfOthers = step === "base of others opened";
    const before = isOfOthers ? await replica({ due }) : null;
    let more = 0;
    let isReached = false;
    reached.promise.then(() => {
      isReached = true;
    });
    await until(`the step ${step}`, async () => {
      await save(more % 2 ? stopped : (before ?? stopped), `more ${more++}`);
      await Bun.sleep(100);
      return isReached;
    });
    const other = before ?? (await replica({ due }));
    await save(other, "while it was stopped");
    const [memory] = (await other.memories.list(wholeAccount(ID), { filter: {}, limit: 1 }))
      .memories;
    if (!memory) throw new Error("no memory");
    await other.memories.remove(wholeAccount(ID), memory.id);
    await save(other, "after that");
    await until("the flush by the other one", () => isFlushed(other));
    const present = await contents(other);
    held.resolve();
    await save(stopped, "woken");
    for (const each of [stopped, other, await replica()]) {
      expect(await contents(each)).toEqual([...present, "woken"].sort());
    }
    await until("all being flushed, and nothing left over", async () => {
      await other.sweep.recorded();
      // Removes files that the stopped server has appended to a base after others had removed it.
      await other.sweep.listed();
      const head = await other.log.head(ID);
      const all = await bases();
      return (await isFlushed(other)) && all.length === 1 && all[0] === head?.checkpoint?.base;
    });
  },
);
