import { expect, test } from "bun:test";
import { OutcomeUnknown } from "../../../src/db/postgres-errors.ts";
import { AppError } from "../../../src/errors.ts";
import { wholeAccount } from "../../../src/keys/reach.ts";
import type { Log } from "../../../src/memories/log/log.ts";
import { createRandom, type Random } from "../../support/random.ts";
import { AT_ONCE, createReplicas, type Replica } from "../../support/shared-stores.ts";
import { until } from "../../support/until.ts";

/**
 * Clients that save, change and remove memories of their own through servers that flush all the time, stop
 * at any step for longer than a lease, lose answers of the database, and end. Each answer is looked for on another server at once.
 * `LONG=1` takes many seeds; SEED=n tries one.
 */
const SEEDS = process.env.LONG
  ? Array.from({ length: 100 }, (_, n) => n + 1)
  : [Number(process.env.SEED ?? 1)];
const ACCOUNTS = ["acc_1", "acc_2"];
const CLIENTS = 4;
const CALLS = 40;
const LEASE = 60;
const SERVERS = 3;

/** Loses answers of the database: of what was done, of what was not, and of what will be done in a moment. */
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
  "nothing that was answered is lost or comes back, whoever stops or ends (seed %d)",
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
    /** Rejects for what waits for a server that ends. */
    const ends = new Map<Replica, PromiseWithResolvers<never>>();
    const endOf = (server: Replica) => {
      const end = ends.get(server) ?? Promise.withResolvers<never>();
      end.promise.catch(() => {});
      ends.set(server, end);
      return end;
    };

    /** A server that ends, and another one in its place. What runs on it is not answered. */
    const crash = async () => {
      const index = random.below(SERVERS);
      const [former] = servers.splice(index, 1, await start());
      if (!former) return;
      endOf(former).reject(new AppError("unavailable", "It has ended."));
      await former.crash();
    };

    /** What the account of a client has of it, by its ids. */
    const wanted = ACCOUNTS.map(() => new Map<string, string>());

    /** Until it is answered; what has no answer may be there, and the client can't know. */
    const call = async <Result>(task: (server: Replica) => Promise<Result>): Promise<Result> => {
      for (;;) {
        const server = any();
        try {
          return await Promise.race([task(server), endOf(server).promise]);
        } catch (error) {
          if (!isUnavailable(error)) throw error;
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
            memories.create(wholeAccount(account), [{ content }], { idempotencyKey: content }),
          );
          if (!made) throw new Error("nothing was saved");
          own.push(made.id);
          mine.set(made.id, content);
        } else if (choice < 8) {
          await call(({ memories }) => memories.update(wholeAccount(account), id, { content }));
          mine.set(id, content);
        } else {
          // The answer to the first try may have been lost.
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
      // What one has added to a base that others had removed already.
      await server.sweep.listed();
      const heads = await Promise.all(ACCOUNTS.map((account) => server.log.head(account)));
      const recorded = heads.map((head) => head?.checkpoint?.base ?? "").sort();
      const isFlushed = heads.every((head) => head?.seq === head?.checkpoint?.upTo);
      return isFlushed && Bun.deepEquals((await bases()).sort(), recorded);
    });
  },
  120_000,
);
