import { expect, test } from "bun:test";
import { mkdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import type { Memory, NewMemory } from "../../src/memories/memory.ts";
import type { StoredMemory } from "../../src/memories/rows.ts";
import { listFiles } from "../../src/memories/table-files.ts";
import { type Client, createClient } from "../support/client.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { HASTY, openData } from "../support/live-data.ts";
import { createRandom } from "../support/random.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";
import { filesWith, untilGone } from "./traces.ts";

/**
 * Forgotten means gone: no byte of what was deleted is left below the data folder. Upkeep is due
 * after moments here and after seconds in the program; what it does is the same.
 */
const PATIENCE = 30_000;
const random = createRandom(Number(process.env.SEED ?? 1));

/** A memory with a word of its own in every field, and those words. */
function secret(): { memory: NewMemory; words: string[] } {
  const words = Array.from({ length: 7 }, random.word);
  const [one = "", two = "", three = "", tag = "", agent_id = "", session_id = "", note = ""] =
    words;
  const content = `${one} and\n\n${two} then ${three}`;
  return { memory: { content, tags: [tag], agent_id, session_id, metadata: { note } }, words };
}

const CLEARED = { tags: [], agent_id: null, session_id: null, metadata: {} };

type Forgetting = (client: Client, saved: Memory) => Promise<unknown>;
const WAYS: Record<string, Forgetting> = {
  "by its id": (client, { id }) => client.remove(id),
  "by its tag": (client, { tags }) => client.removeMatching({ tags: tags.join() }),
  "by its agent and session": (client, { agent_id, session_id }) =>
    client.removeMatching({ agent_id: agent_id ?? "", session_id: session_id ?? "" }),
  "by another content and other fields": (client, { id }) =>
    client.update(id, { content: "x", ...CLEARED }),
};

for (const [way, forget] of Object.entries(WAYS)) {
  test(`a memory that is replaced or deleted ${way} leaves no trace`, async () => {
    const dataDir = temporaryFolder();
    const { key } = await addAccountTo(dataDir);
    await using server = spawnServer(dataDir, "impatient");
    const client = createClient(await server.origin(), key);
    const kept = secret();
    await client.save(kept.memory);
    const { memory, words } = secret();
    const saved = await client.save(memory, { "idempotency-key": "once" });
    await Bun.sleep(1_000);
    expect(filesWith(dataDir, words)).not.toEqual([]);
    await forget(client, saved);
    expect(await untilGone(dataDir, words, PATIENCE)).toEqual([]);
    expect(server.errors()).not.toMatch(new RegExp(words.join("|"), "i"));
    expect(await client.search(kept.words[0] ?? "", { mode: "keyword" })).toMatchObject([
      kept.memory,
    ]);
  });
}

test("a server that is killed right after it answered forgets when it starts again", async () => {
  const dataDir = temporaryFolder();
  const { key } = await addAccountTo(dataDir);
  const { memory, words } = secret();
  for (const [round, pause] of [0, 200, 700, 1_200].entries()) {
    await using server = spawnServer(dataDir, "impatient");
    const client = createClient(await server.origin(), key);
    const saved = await client.save(memory);
    await client.save({ content: `other ${round}` });
    await Bun.sleep(800);
    await client.remove(saved.id);
    await Bun.sleep(pause);
    await server.kill();
    // Nobody asks for the account's memories.
    await using again = spawnServer(dataDir, "impatient");
    await again.origin();
    expect(await untilGone(dataDir, words, PATIENCE)).toEqual([]);
  }
});

test("what is deleted while another purge runs, beside other writes, is gone as well", async () => {
  const dataDir = temporaryFolder();
  const { key } = await addAccountTo(dataDir);
  await using server = spawnServer(dataDir, "impatient");
  const client = createClient(await server.origin(), key);
  const all: string[] = [];
  for (let round = 0; round < 40; round++) {
    const { memory, words } = secret();
    const saved = await client.save(memory);
    const other = await client.save({ content: "another" });
    await client.update(other.id, { content: `another ${round}` });
    all.push(...words);
    await Bun.sleep(random.below(100));
    await client.remove(saved.id);
  }
  expect(await untilGone(dataDir, all, PATIENCE)).toEqual([]);
});

test("what is deleted or replaced in many accounts at once is gone from all of them", async () => {
  const dataDir = temporaryFolder();
  await using data = await openData(dataDir, { ...HASTY, purgedWithin: 0 });
  const all: string[] = [];
  for (let number = 0; number < 12; number++) {
    const { id } = await data.accounts.add({ email: `a${number}@example.com`, password: null });
    const { memory, words } = secret();
    const [saved] = await data.memories.create(id, [memory, secret().memory]);
    all.push(...words);
    if (number % 2) await data.memories.remove(id, saved?.id ?? "");
    else await data.memories.update(id, saved?.id ?? "", { content: "another", ...CLEARED });
  }
  expect(await untilGone(dataDir, all, PATIENCE)).toEqual([]);
});

test("a table with a file that can't be read is made again from the journal, and forgets", async () => {
  const dataDir = temporaryFolder();
  const { accountId } = await addAccountTo(dataDir);
  const folder = join(dataDir, "memories", `${accountId}.lance`);
  const due = { ...HASTY, checkpointAfter: 60_000, commits: 100, idle: 60_000, purgeAfter: 500 };
  await using data = await openData(dataDir, due);
  const { memory, words } = secret();
  const [kept] = await data.memories.create(accountId, [{ content: "kept" }]);
  const written = await listFiles(folder);
  const [deleted] = await data.memories.create(accountId, [memory]);
  await data.memories.remove(accountId, deleted?.id ?? "");
  for (const file of written.filter((file) => file.startsWith("data"))) {
    truncateSync(join(folder, file), 100);
  }
  expect(await untilGone(dataDir, words, PATIENCE)).toEqual([]);
  expect((await data.memories.get(accountId, kept?.id ?? "")).content).toBe("kept");
});

test("an account that is removed while the server runs leaves no trace", async () => {
  const dataDir = temporaryFolder();
  const { key } = await addAccountTo(dataDir, "grace@example.com");
  await using server = spawnServer(dataDir, "real");
  const client = createClient(await server.origin(), key);
  const { memory, words } = secret();
  await client.save(memory, { "idempotency-key": "once" });
  expect(filesWith(dataDir, words)).not.toEqual([]);
  const removed = await ctxd(["user", "remove", "--yes", "grace@example.com"], { dataDir });
  expect(removed.exitCode).toBe(0);
  expect(await untilGone(dataDir, [...words, "grace@example.com"], PATIENCE)).toEqual([]);
  expect((await client.send("GET", "/memories")).status).toBe(401);
});

/** A memory with a vector that no other has. */
function stored(number: number): StoredMemory {
  const vector = Float32Array.from({ length: 16 }, () => random.next() - 0.5);
  const length = Math.hypot(...vector);
  return {
    id: `mem_${number.toString(16).padStart(32, "0")}`,
    content: `the text ${random.word()} number ${number}`,
    tags: [`tag${number % 10}`],
    agentId: null,
    sessionId: null,
    importance: 0.5,
    metadata: "{}",
    createdAt: 1_767_225_600_000 + number,
    updatedAt: 1_767_225_600_000 + number,
    vectors: [vector.map((value) => value / length)],
  };
}

test.each([
  [1, "in memory", {}],
  [2_000, "in memory", {}],
  [20_000, "in memory", {}],
  [20_000, "in an index of the table", { room: 0 }],
])(
  "of %d memories, their vectors %s, the one that is deleted leaves neither words nor vector nor old files",
  async (count, _, memory) => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, "memories"), { recursive: true });
    const { accountId } = await addAccountTo(dataDir);
    const folder = join(dataDir, "memories", `${accountId}.lance`);
    const memories = Array.from({ length: count }, (_, number) => stored(number));
    const victim = memories[Math.floor(count / 2)];
    if (!victim) throw new Error("no memory to delete");
    const [, , word = ""] = victim.content.split(" ");
    const vector = new Uint8Array(victim.vectors[0]?.buffer ?? new ArrayBuffer(0));

    await using data = await openData(dataDir, HASTY, undefined, memory);
    await data.store.use(accountId, async ({ writer }) => {
      for (let start = 0; start < count; start += 1_000) {
        const some = memories.slice(start, start + 1_000);
        const apply = (draft: { put(memory: StoredMemory): void }) => some.forEach(draft.put);
        await writer.change({ ids: [], apply });
      }
    });
    // Until all is merged, and indexed by its vectors where that is worth it.
    await Bun.sleep(count > 5_000 ? 6_000 : 1_500);
    expect(filesWith(dataDir, [word, vector])).not.toEqual([]);
    const { vectorSegments } = await data.tableStats(accountId);
    expect(vectorSegments > 0).toBe("room" in memory);
    const before = await listFiles(folder);
    expect(before.some((file) => file.startsWith("_indices"))).toBe(true);

    await data.memories.remove(accountId, victim.id);
    expect(await untilGone(dataDir, [word, vector], PATIENCE)).toEqual([]);
    // LanceDB may pack a text, so that no search finds it: no file that could hold it is left.
    const stillThere = async () => {
      const now = new Set(await listFiles(folder));
      return before.filter((file) => now.has(file) && /^(data|_deletions|_indices)/.test(file));
    };
    for (const end = performance.now() + PATIENCE; performance.now() < end; await Bun.sleep(200)) {
      if ((await stillThere()).length === 0) break;
    }
    expect(await stillThere()).toEqual([]);
    const left = await data.store.use(accountId, ({ table }) => table.countRows());
    expect(left).toBe(count - 1);
  },
  120_000,
);
