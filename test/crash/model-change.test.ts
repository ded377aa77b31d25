import { Database as Sqlite } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { databasePath } from "../../src/db/data-lock.ts";
import { createClient } from "../support/client.ts";
import { temporaryFolder } from "../support/database.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { writeWordModel } from "../support/word-model.ts";

/** `COUNT=10000 bun test test/crash/model-change.test.ts` is the same at size. */
const COUNT = Number(process.env.COUNT ?? 200);
const TIMEOUT = COUNT > 1_000 ? 1_800_000 : 60_000;
/** Milliseconds between two searches, which leave the processor time to change the model. */
const PAUSE = 50;
/** A model whose folder is tried instead of the small one. */
const MODEL = process.env.OTHER_MODEL;

const TOPICS = ["peanuts", "trains", "violins", "volcanoes", "invoices", "tulips", "chess", "rain"];
const contentOf = (n: number) => `Note ${n}: somebody spoke about ${TOPICS[n % TOPICS.length]}.`;

/** What `/api/health` says of the vectors. */
async function stateOf(origin: string): Promise<string> {
  const answer = await fetch(`${origin}/api/health`);
  expect(answer.status).toBe(200);
  return JSON.parse(await answer.text()).checks.vectors;
}

function namesOfTables(dataDir: string): string[] {
  using db = new Sqlite(databasePath(dataDir), { readonly: true });
  const rows = db.query<{ name: string }, []>("SELECT name FROM heads").all();
  return rows.map(({ name }) => name);
}

test(
  "kill -9 while the model is changed: searches answer throughout, the change goes on",
  async () => {
    const [dataDir, folder] = [temporaryFolder(), temporaryFolder()];
    if (!MODEL) await writeWordModel(folder);
    const words = { CTXD_MODEL: MODEL ?? folder };
    const { accountId, key } = await addAccountTo(dataDir);
    const ids: string[] = [];
    {
      await using server = spawnServer(dataDir, "real", words);
      const client = createClient(await server.origin(), key);
      for (let start = 0; start < COUNT; start += 250) {
        const part = Array.from({ length: Math.min(250, COUNT - start) }, (_, n) => n + start);
        const saved = await client.saveAll(part.map((n) => ({ content: contentOf(n) })));
        ids.push(...saved.map(({ id }) => id));
      }
      await server.end();
    }
    const tables = join(dataDir, "memories");
    const name = new RegExp(`^${accountId}\\.\\w{8}\\.lance$`);
    expect(readdirSync(tables)).toEqual([expect.stringMatching(name)]);

    let searches = 0;
    let slowest = 0;
    const search = async (origin: string, topic: string) => {
      const started = performance.now();
      const found = await createClient(origin, key).search(topic, { limit: 1, mode: "semantic" });
      slowest = Math.max(slowest, performance.now() - started);
      expect(found[0]?.content).toEndWith(`about ${topic}.`);
      searches++;
      await Bun.sleep(PAUSE);
    };
    const killed: string[] = [];
    // From the small model to the built-in one, with two kills in between.
    for (const share of [25, 60]) {
      await using server = spawnServer(dataDir, "real");
      const origin = await server.origin();
      for (
        let state = "changing, 0 % done";
        !state.startsWith("ok");
        state = await stateOf(origin)
      ) {
        await search(origin, TOPICS[searches % TOPICS.length] ?? "");
        if (Number(/\d+/.exec(state)?.[0]) < share) continue;
        killed.push(state);
        break;
      }
      if (share === 25) {
        const client = createClient(origin, key);
        await client.send("DELETE", `/memories/${ids[0]}`);
        await client.save({ content: "The dentist moved the appointment to Thursday." });
      }
      await server.kill();
    }
    expect(killed).toHaveLength(2);
    // The second one may be in the log alone.
    expect(namesOfTables(dataDir)).toHaveLength(2);

    await using server = spawnServer(dataDir, "real");
    const origin = await server.origin();
    const first = await stateOf(origin);
    while ((await stateOf(origin)) !== "ok") {
      await search(origin, TOPICS[searches % TOPICS.length] ?? "");
    }
    const client = createClient(origin, key);
    const [late] = await client.search("when is the visit to the tooth doctor", { limit: 1 });
    expect(late?.content).toContain("dentist");
    expect((await client.send("GET", `/memories/${ids[0]}`)).status).toBe(404);
    const stats = (await client.send("GET", "/stats")).body;
    expect(stats).toMatchObject({ memories: COUNT });
    expect(server.errors()).toContain("reembedding_done");
    expect(namesOfTables(dataDir)).toEqual([expect.stringMatching(/^\w+\.[0-9a-f]{8}$/)]);
    await until("the former table is removed", () => readdirSync(tables).length === 1, 50);
    if (COUNT > 1_000) console.log({ killed, first, searches, slowest: Math.round(slowest) });
  },
  TIMEOUT,
);
