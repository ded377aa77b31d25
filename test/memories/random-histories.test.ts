import { expect, test } from "bun:test";
import { AppError } from "../../src/errors.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import type { Expiry } from "../../src/memories/background/expiry.ts";
import type { Memory } from "../../src/memories/model/memory.ts";
import type { Memories } from "../../src/memories/rules/memories.ts";
import { temporaryFolder, testClock } from "../support/database.ts";
import { HASTY, openData } from "../support/live-data.ts";
import { createRandom } from "../support/random.ts";
import { AT_ONCE, createReplicas } from "../support/shared-stores.ts";
import { until } from "../support/until.ts";

/**
 * Changes histories of one account in every way at the same time. In the end each link names an existing
 * memory that links back, and every relinked memory is still found by its text.
 */
const EXPIRY: Expiry = { every: 10, jump: 1e15, restAfterJump: 0, retryAfter: 10 };
const WORKERS = 6;
const STEPS = 40;
const ID = "acc_1";
const EXPECTED = ["conflict", "memory_not_found"];

type Clock = ReturnType<typeof testClock>;

async function changeAtRandom(
  all: readonly [Memories, ...Memories[]],
  accountId: string,
  clock: Clock,
) {
  const random = createRandom(Number(process.env.SEED ?? 11));
  const reach = wholeAccount(accountId);
  const ids: string[] = [];
  let said = 0;
  const change = async (memories: Memories) => {
    const id = random.pick(ids.slice(-25)) ?? "";
    const kind = random.below(12);
    if (ids.length < 5 || kind < 7) {
      const content = `fact ${said++} ${random.word()} ${random.word()}`;
      const supersedes = kind === 0 ? null : (random.pick(ids.slice(-8)) ?? null);
      const lasts = 1 + random.below(60);
      const expires_at = kind === 1 ? new Date(clock() + lasts).toISOString() : null;
      const tags = [`t${said % 30}`];
      const inputs = [{ content, supersedes, expires_at, tags }];
      const [saved] = await memories.saveAll(reach, inputs);
      if (saved) ids.push(saved.id);
    } else if (kind < 10) {
      await memories.remove(reach, id, kind === 9 && random.below(20) === 0);
    } else if (kind === 10) {
      await memories.update(reach, id, { importance: random.below(10) / 10 });
    } else {
      await memories.removeMatching(reach, { tags: [`t${random.below(30)}`] });
    }
    clock.advance(1);
  };
  const work = async () => {
    for (let step = 0; step < STEPS; step++) {
      const [one, other = one] = all;
      await change(random.below(2) ? one : other).catch((error) => {
        if (!(error instanceof AppError && EXPECTED.includes(error.code))) throw error;
      });
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  clock.advance(1_000);
}

async function allOf(memories: Memories, accountId: string): Promise<Memory[]> {
  const pages = await memories.export(wholeAccount(accountId), {});
  return (await Array.fromAsync(pages)).flat();
}

async function expectWhole(memories: Memories, accountId: string) {
  const all = new Map((await allOf(memories, accountId)).map((memory) => [memory.id, memory]));
  const broken = [...all.values()].filter(({ id, supersedes, superseded_by }) => {
    const isRight = (linked: string | null, back: keyof Memory) =>
      linked === null || all.get(linked)?.[back] === id;
    return !isRight(supersedes, "superseded_by") || !isRight(superseded_by, "supersedes");
  });
  expect(broken).toEqual([]);
  expect(all.size).toBeGreaterThan(0);
  for (const { id, content } of [...all.values()].slice(0, 30)) {
    const { memories: found } = await memories.search(wholeAccount(accountId), {
      query: content,
      filter: {},
      limit: 1,
      minScore: 0,
      mode: "semantic",
      versions: false,
    });
    expect(found[0]?.id).toBe(id);
  }
}

test.each([
  ["in memory", {}],
  ["in files only", { viewMemory: 0 }],
])(
  "histories %s stay consistent while memories are saved, deleted and expire",
  async (_, options) => {
    const clock = testClock();
    const dataDir = temporaryFolder();
    const open = () => openData(dataDir, HASTY, undefined, { clock, expiry: EXPIRY, ...options });
    let id = "";
    {
      await using data = await open();
      ({ id } = await data.accounts.add({ email: "ada@example.com", password: null }));
      await changeAtRandom([data.memories], id, clock);
      await until("what has expired is forgotten", async () => {
        return (await data.log.expired(clock(), 9)).length === 0;
      });
      await expectWhole(data.memories, id);
    }
    await using again = await open();
    await expectWhole(again.memories, id);
  },
);

test("histories that several servers change stay consistent", async () => {
  const { replica } = await createReplicas([ID]);
  const clock = testClock();
  const options = { clock, expiry: EXPIRY, due: AT_ONCE, expiring: 100 };
  const [a, b] = [await replica(options), await replica(options)];
  await changeAtRandom([a.memories, b.memories], ID, clock);
  await until("what has expired is forgotten", async () => {
    return (await allOf(a.memories, ID)).length === (await a.log.head(ID))?.usage?.memories;
  });
  for (const { memories } of [a, b]) await expectWhole(memories, ID);
});
