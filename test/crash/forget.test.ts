import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { STATE_BYTES } from "../../src/embedding/embedder.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { createLog } from "../../src/log.ts";
import type { Memory, NewMemory } from "../../src/memories/model/memory.ts";
import type { StoredMemory } from "../../src/memories/model/rows.ts";
import { storedMemory } from "../support/bases.ts";
import { type Client, createClient } from "../support/client.ts";
import { ctxd } from "../support/command-line.ts";
import { listFiles } from "../support/files.ts";
import { folderOfTest, HASTY, openData } from "../support/live-data.ts";
import { createRandom } from "../support/random.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";
import { writeWordModel } from "../support/word-model.ts";
import { serveImpatiently } from "./impatient-server.ts";
import { filesWith, untilFound, untilGone } from "./traces.ts";

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

/** Waits until words are in the files of a table: there they are the hardest to forget. */
async function untilWritten(dataDir: string, words: readonly string[]): Promise<void> {
  expect(await untilFound(join(dataDir, "memories"), words, PATIENCE)).not.toEqual([]);
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
  async "by its end"(client, { id }) {
    // On a busy machine the end may come before the request does.
    for (let status = 0, lasts = 1_000; status !== 200; lasts *= 2) {
      const expires_at = new Date(Date.now() + lasts).toISOString();
      ({ status } = await client.send("PUT", `/memories/${id}`, { json: { expires_at } }));
    }
  },
};

// These mostly wait, so they run at once.
test.concurrent("a memory that is replaced, deleted or expires in any way leaves no trace", async () => {
  using folder = folderOfTest();
  const dataDir = folder.path;
  let logged = "";
  const log = createLog({ logLevel: "debug", logFormat: "text" }, (line) => {
    logged += `${line}\n`;
  });
  const keys = new Map<string, string>();
  for (const way of Object.keys(WAYS)) {
    keys.set(way, (await addAccountTo(dataDir, `${random.word()}@example.com`)).key);
  }
  await using server = await serveImpatiently(dataDir, { log });
  const all = Object.entries(WAYS).map(([way, forget]) => {
    const client = createClient(server.origin, keys.get(way) ?? "");
    return { way, forget, client, kept: secret(), ...secret() };
  });
  const forgotten = await Promise.all(
    all.map(async ({ client, kept, memory, forget }) => {
      await client.save(kept.memory);
      const saved = await client.save(memory, { "idempotency-key": "once" });
      return () => forget(client, saved);
    }),
  );
  for (const { words } of all) await untilWritten(dataDir, words);
  for (const forget of forgotten) await forget();
  for (const { way, client, kept, words } of all) {
    expect({ way, traces: await untilGone(dataDir, words, PATIENCE) }).toEqual({ way, traces: [] });
    expect(logged).not.toMatch(new RegExp(words.join("|"), "i"));
    expect(await client.search(kept.words[0] ?? "", { mode: "keyword" })).toMatchObject([
      kept.memory,
    ]);
  }
});

test.concurrent("a server that is killed right after it answered forgets when it starts again", async () => {
  using folder = folderOfTest();
  const dataDir = folder.path;
  const { key } = await addAccountTo(dataDir);
  const { memory, words } = secret();
  for (const [round, pause] of [0, 200, 700, 1_200].entries()) {
    await using server = spawnServer(dataDir, "impatient");
    const client = createClient(await server.origin(), key);
    const saved = await client.save(memory);
    await client.save({ content: `other ${round}` });
    await untilWritten(dataDir, words);
    await client.remove(saved.id);
    // Any moment of what removes it from the files.
    await Bun.sleep(pause);
    await server.kill();
    // Nobody asks for the account's memories.
    await using _ = await serveImpatiently(dataDir);
    expect(await untilGone(dataDir, words, PATIENCE)).toEqual([]);
  }
});

test.concurrent.each(["checkpoint recorded", "former base removed"])(
  "what a flush has dropped from the log, ended by a crash right after the step %s, is gone when the server starts again",
  async (step) => {
    using folder = folderOfTest();
    const dataDir = folder.path;
    const { key } = await addAccountTo(dataDir);
    const { memory, words } = secret();
    {
      await using server = spawnServer(dataDir, "impatient", { STOP_AT: step });
      await createClient(await server.origin(), key).save(memory);
      await server.exited;
    }
    const inDatabase = () => filesWith(dataDir, words).filter((path) => !path.endsWith(".lance"));
    expect(inDatabase()).not.toEqual([]);
    // Nothing is left to be flushed, and nobody asks for the account's memories.
    await using _ = await serveImpatiently(dataDir);
    expect(inDatabase()).toEqual([]);
  },
);

test.concurrent("what is deleted while another flush runs, beside other writes, is gone as well", async () => {
  using folder = folderOfTest();
  const dataDir = folder.path;
  const { key } = await addAccountTo(dataDir);
  await using server = await serveImpatiently(dataDir);
  const client = createClient(server.origin, key);
  const all: string[] = [];
  for (let round = 0; round < 40; round++) {
    const { memory, words } = secret();
    const saved = await client.save(memory);
    const other = await client.save({ content: "another" });
    await client.update(other.id, { content: `another ${round}` });
    all.push(...words);
    // At any moment of the purge before.
    await Bun.sleep(random.below(100));
    await client.remove(saved.id);
  }
  expect(await untilGone(dataDir, all, PATIENCE)).toEqual([]);
});

test.concurrent("an account that is removed while the server runs leaves no trace", async () => {
  using folder = folderOfTest();
  const dataDir = join(folder.path, "data");
  const { key } = await addAccountTo(dataDir, "grace@example.com");
  const model = join(folder.path, "model");
  await writeWordModel(model);
  await using server = spawnServer(dataDir, "real", { CTXD_MODEL: model });
  const client = createClient(await server.origin(), key);
  const { memory, words } = secret();
  await client.save(memory, { "idempotency-key": "once" });
  expect(filesWith(dataDir, words)).not.toEqual([]);
  const removed = await ctxd(["user", "remove", "--yes", "grace@example.com"], { dataDir });
  expect(removed.exitCode).toBe(0);
  expect(await untilGone(dataDir, [...words, "grace@example.com"], PATIENCE)).toEqual([]);
  expect((await client.send("GET", "/memories")).status).toBe(401);
});

test.concurrent("what is deleted or replaced in many accounts at once is gone from all of them", async () => {
  using folder = folderOfTest();
  const dataDir = folder.path;
  await using data = await openData(dataDir, { ...HASTY, forgottenWithin: 0 });
  const all: string[] = [];
  for (let number = 0; number < 12; number++) {
    const { id } = await data.accounts.add({ email: `a${number}@example.com`, password: null });
    const { memory, words } = secret();
    const [saved] = await data.memories.saveAll(wholeAccount(id), [memory, secret().memory]);
    all.push(...words);
    if (number % 2) await data.memories.remove(wholeAccount(id), saved?.id ?? "");
    else
      await data.memories.update(wholeAccount(id), saved?.id ?? "", {
        content: "another",
        ...CLEARED,
      });
  }
  expect(await untilGone(dataDir, all, PATIENCE)).toEqual([]);
});

test.concurrent("a base to which nothing can be added is written as a whole, and forgets", async () => {
  using folder = folderOfTest();
  const dataDir = folder.path;
  const { accountId } = await addAccountTo(dataDir);
  let failures = 0;
  await using data = await openData(dataDir, HASTY, undefined, {
    step(name) {
      if (name !== "base kept" || ++failures > 3) return;
      throw new Error("the disk reports an error");
    },
  });
  const { memory, words } = secret();
  const [kept] = await data.memories.saveAll(wholeAccount(accountId), [{ content: "kept" }]);
  const [deleted] = await data.memories.saveAll(wholeAccount(accountId), [memory]);
  await data.memories.remove(wholeAccount(accountId), deleted?.id ?? "");
  expect(await untilGone(dataDir, words, PATIENCE)).toEqual([]);
  expect(failures).toBeGreaterThan(3);
  expect((await data.memories.get(wholeAccount(accountId), kept?.id ?? "")).content).toBe("kept");
});

/** A memory with a vector and states that no other has. */
function stored(number: number): Promise<StoredMemory> {
  const vector = Float32Array.from({ length: 16 }, () => random.next() - 0.5);
  const length = Math.hypot(...vector);
  const moment = 1_767_225_600_000 + number;
  return storedMemory(number, {
    content: `the text ${random.word()} number ${number}`,
    createdAt: moment,
    updatedAt: moment,
    vectors: [vector.map((value) => value / length)],
    states: Int8Array.from({ length: 3 * STATE_BYTES }, () => random.below(255) - 127),
  });
}

/** More memories than a base has without an index of their ids, see `LARGE_ROWS`. */
const LARGE = 11_000;
const SIZES: readonly (readonly [number, string, { viewMemory?: number }])[] = [
  [1, "in memory", {}],
  [2_000, "in memory", {}],
  [LARGE, "in memory", {}],
  [LARGE, "in the base alone", { viewMemory: 0 }],
];
test.concurrent.each(SIZES)(
  "of %d memories, %s, the one that is deleted leaves neither words nor vector nor states nor old files",
  async (count, _, memory) => {
    using place = folderOfTest();
    const dataDir = place.path;
    const folder = join(dataDir, "memories");
    mkdirSync(folder, { recursive: true });
    const { accountId } = await addAccountTo(dataDir);
    const memories = await Promise.all(Array.from({ length: count }, (_, n) => stored(n)));
    const victim = memories[Math.floor(count / 2)];
    if (!victim) throw new Error("no memory to delete");
    const [, , word = ""] = victim.content.split(" ");
    const vector = new Uint8Array(victim.vectors[0]?.buffer ?? new ArrayBuffer(0));
    const states = new Uint8Array(victim.states.buffer);

    await using data = await openData(dataDir, HASTY, undefined, memory);
    await data.store.use(accountId, async ({ writer }) => {
      for (let start = 0; start < count; start += 1_000) {
        const some = memories.slice(start, start + 1_000);
        const apply = (draft: { put(memory: StoredMemory): void }) => some.forEach(draft.put);
        await writer.change({ ids: [], apply });
      }
    });
    // Until the base has all, and is indexed where that is worth it.
    const isLarge = count > HASTY.largeRows;
    const isIndex = (file: string) => file.includes("_indices/");
    await until(async () => {
      const { checkpoint } = (await data.log.head(accountId)) ?? {};
      if (!checkpoint || (await data.log.size()) > 0) return false;
      return checkpoint.files.some(isIndex) === isLarge;
    }, "the table does not come to rest");
    expect(filesWith(dataDir, [vector])).not.toEqual([]);
    expect(filesWith(dataDir, [states])).not.toEqual([]);
    const before = await listFiles(folder);
    expect(before.some(isIndex)).toBe(isLarge);

    await data.memories.remove(wholeAccount(accountId), victim.id);
    expect(await untilGone(dataDir, [word, vector, states], PATIENCE)).toEqual([]);
    // LanceDB may pack a text, so that no search finds it: no file that could hold it is left.
    const stillThere = async () => {
      const now = new Set(await listFiles(folder));
      return before.filter((file) => now.has(file));
    };
    await until(async () => (await stillThere()).length === 0, "old files are there");
    await data.store.use(accountId, async ({ table }) => {
      expect(table.usage.memories).toBe(count - 1);
      expect(await table.select({})).toHaveLength(count - 1);
    });
  },
);

async function until(condition: () => Promise<boolean>, otherwise: string): Promise<void> {
  for (const end = performance.now() + PATIENCE; !(await condition()); await Bun.sleep(50)) {
    if (performance.now() > end) throw new Error(otherwise);
  }
}
