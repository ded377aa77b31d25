import { expect, test } from "bun:test";
import { OutcomeUnknown } from "../../../src/db/database-error.ts";
import { AppError } from "../../../src/errors.ts";
import { wholeAccount } from "../../../src/keys/reach.ts";
import type { Log } from "../../../src/memories/log/log.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { AT_ONCE, createReplicas, type Replica } from "../../support/shared-stores.ts";
import { until } from "../../support/until.ts";

/**
 * Clients save, change and remove their memories on servers that flush all the time, stop at any step for
 * longer than a lease, lose answers of the database, and end. Each answer is compared with another server
 * at once. `LONG=1` takes many seeds; SEED=n tries one.
 */
const SEEDS = process.env.LONG
  ? Array.from({ length: 100 }, (_, n) => n + 1)
  : [Number(process.env.SEED ?? 1)];
const ACCOUNTS = ["acc_1", "acc_2"];
const CLIENTS = 4;
const CALLS = 40;
const LEASE = 60;
/** Milliseconds for which a call is repeated. */
const TIMEOUT_MS = 120_000;
const SERVERS = 3;

/** Loses answers of the database: of calls that succeeded, that failed, and that will succeed in a moment. */
function losingAnswers(random: Random) {
  const lossy = async <Result>(task: () => Promise<Result>): Promise<Result> => {
    const choice = random.below(60);
    const lost = () => new OutcomeUnknown(new Error("an answer was lost"));
    if (choice === 0) throw lost();
    if (choice === 1) {
      setTimeout(() => void task().catch(() => {}), random.below(500));
      throw lost();
    }
    const result = await task();
    if (choice === 2) throw lost();
    return result;
  };
  return <Kept extends Log>(log: Kept): Kept => ({
    ...log,
    append: (...entry: Parameters<Log["append"]>) => lossy(() => log.append(...entry)),
    checkpoint: (...recorded: Parameters<Log["checkpoint"]>) =>
      lossy(() => log.checkpoint(...recorded)),
  });
}

const isUnavailable = (error: unknown) => error instanceof AppError && error.code === "unavailable";

test.each(SEEDS)(
  "no answered write is lost or undone when servers stop or end (seed %d)",
  async (seed) => {
    const random = createRandom(seed);
    const { replica, bases } = await createReplicas(ACCOUNTS);
    const start = () =>
      replica({
        due: { ...AT_ONCE, largeRows: 8, changes: 5 },
        leaseLasts: LEASE,
        wrapLog: losingAnswers(random),
        overdue: { flush: 300, forget: 200 },
        async step() {
          const choice = random.below(100);
          if (choice < 8) await Bun.sleep(random.below(4 * LEASE));
          if (choice === 99) throw new Error("the disk failed");
        },
      });
    const servers = await Promise.all(Array.from({ length: SERVERS }, start));
    const any = (): Replica => servers[random.below(SERVERS)] as Replica;
    /** Rejects the calls that wait for a server when it ends. */
    const ends = new Map<Replica, PromiseWithResolvers<never>>();
    const endOf = (server: Replica) => {
      const end = ends.get(server) ?? Promise.withResolvers<never>();
      end.promise.catch(() => {});
      ends.set(server, end);
      return end;
    };

    /** Ends a server and starts another one. Calls that run on it get no answer. */
    const crash = async () => {
      const index = random.below(SERVERS);
      const [former] = servers.splice(index, 1, await start());
      if (!former) return;
      endOf(former).reject(new AppError("unavailable", "It has ended."));
      await former.crash();
    };

    /** The contents of an account's memories, by id. */
    const wanted = ACCOUNTS.map(() => new Map<string, string>());

    /**
     * Repeats a call until it is answered: the client can't know whether a call without an answer took
     * effect.
     */
    const call = async <Result>(task: (server: Replica) => Promise<Result>): Promise<Result> => {
      for (const end = performance.now() + TIMEOUT_MS; ; ) {
        const server = any();
        try {
          return await Promise.race([task(server), endOf(server).promise]);
        } catch (error) {
          if (!isUnavailable(error) || performance.now() > end) throw error;
        }
      }
    };

    const client = async (number: number) => {
      const at = number % ACCOUNTS.length;
      const [account, mine] = [ACCOUNTS[at] ?? "", wanted[at] ?? new Map<string, string>()];
      const own: string[] = [];
      for (let n = 0; n < CALLS; n++) {
        const content = `client ${number}, call ${n}`;
        const id = own[random.below(own.length + 1)];
        const choice = random.below(10);
        if (id === undefined || choice < 4) {
          const [made] = await call(({ memories }) =>
            memories.saveAll(wholeAccount(account), [{ content }], { idempotencyKey: content }),
          );
          if (!made) throw new Error("nothing was saved");
          own.push(made.id);
          mine.set(made.id, content);
        } else if (choice < 8) {
          await call(({ memories }) => memories.update(wholeAccount(account), id, { content }));
          mine.set(id, content);
        } else {
          // The answer to the first call may have been lost.
          const isGone = (error: unknown) =>
            error instanceof AppError && error.code === "memory_not_found";
          await call(({ memories }) =>
            memories.remove(wholeAccount(account), id).catch((error) => {
              if (!isGone(error)) throw error;
            }),
          );
          own.splice(own.indexOf(id), 1);
          mine.delete(id);
        }
        const rows = await call(({ store }) => store.use(account, ({ table }) => table.find(own)));
        const found = new Map(rows.map((row) => [row.id, row.content]));
        for (const each of own) expect(found.get(each)).toBe(mine.get(each) ?? "");
        expect(found.size).toBe(own.length);
        if (random.below(30) === 0) await crash();
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)));

    for (const server of [...servers, await start()]) {
      for (const [at, account] of ACCOUNTS.entries()) {
        const all = await server.memories.list(wholeAccount(account), { filter: {}, limit: 1_000 });
        const found = new Map(all.memories.map(({ id, content }) => [id, content]));
        expect(found).toEqual(wanted[at] ?? new Map());
      }
    }
    await until("all being flushed, and nothing left over", async () => {
      const [server] = servers;
      if (!server) return false;
      await server.sweep.recorded();
      // Removes files that a server has appended to a base after others had removed it.
      await server.sweep.listed();
      const heads = await Promise.all(ACCOUNTS.map((account) => server.log.head(account)));
      const recorded = heads.map((head) => head?.checkpoint?.base ?? "").sort();
      const isFlushed = heads.every((head) => head?.seq === head?.checkpoint?.upTo);
      return isFlushed && Bun.deepEquals((await bases()).sort(), recorded);
    });
  },
);
