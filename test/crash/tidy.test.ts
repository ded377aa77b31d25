import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import type { Memory } from "../../src/memories/model/memory.ts";
import type { TidyGroup, TidyOutcome, TidyReport } from "../../src/memories/rules/tidy/report.ts";
import { type Client, createClient } from "../support/client.ts";
import { folderOfTest } from "../support/live-data.ts";
import { createRandom } from "../support/random.ts";
import {
  addAccountTo,
  type ServerKind,
  spawnServer,
  untilFlushed,
} from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { serveImpatiently } from "./impatient-server.ts";

/**
 * The server is killed while it tidies. Afterwards nothing is lost, and each group is as before or as proposed.
 * SEED=n tries other moments.
 */
const random = createRandom(Number(process.env.SEED ?? 1));

/** From the oldest memory of each group to the newest. */
const TEXTS = ["", "!", "!!"].map((end) => `The user prefers tabs over spaces${end}.`);

/** Each takes a server some 40 ms to tidy: long enough for being killed in the midst of them. */
const GROUPS = 40;

/** Milliseconds by which the clock of a later server is ahead, so that it begins what an earlier one had begun. */
const ABANDONED = 61_000;
/** Milliseconds by which the clock of an earlier server is ahead of a later one, in which nothing is due yet. */
const NOT_DUE = 600_000;

async function report(client: Client, limit = GROUPS): Promise<TidyReport> {
  const path = `/memories/tidy?kind=restatements&limit=${limit}`;
  const { status, body } = await client.send("GET", path);
  expect(status).toBe(200);
  return body as TidyReport;
}

const send = (client: Client, groups: readonly TidyGroup[]) =>
  client.send("POST", "/memories/tidy", { json: { groups: groups.map(({ id }) => ({ id })) } });

async function apply(client: Client, groups: readonly TidyGroup[]): Promise<string> {
  const { status, body } = await send(client, groups);
  expect({ status, body }).toMatchObject({ status: 200, body: { superseded: 2 * GROUPS } });
  return (body as TidyOutcome).undo ?? "";
}

const undo = async (client: Client, id: string) =>
  (await client.send("DELETE", `/memories/tidy?undo=${id}`)).status;

/** Saves groups, each in a project of its own, and waits until they are found. */
async function plant(client: Client, dataDir: string): Promise<TidyGroup[]> {
  for (const content of TEXTS) {
    const memories = Array.from({ length: GROUPS }, (_, n) => ({ content, project: `p${n}` }));
    await client.saveAll(memories);
  }
  await untilFlushed(dataDir);
  await until(
    "all groups are found",
    async () => {
      const { compared, kinds } = await report(client, 1);
      return compared === 1 && kinds.restatements === GROUPS;
    },
    200,
  );
  return (await report(client)).groups;
}

async function readAll(client: Client): Promise<Map<string, Memory>> {
  const all = new Map<string, Memory>();
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Awaited<ReturnType<Client["list"]>> = await client.list({
      include_superseded: "true",
      limit: 100,
      ...(cursor && { cursor }),
    });
    for (const memory of page.memories) all.set(memory.id, memory);
    cursor = page.next_cursor;
  }
  return all;
}

/** Checks that no memory is lost, and counts the groups that are as before, as proposed, and between the two. */
async function stateOf(client: Client, groups: readonly TidyGroup[]) {
  const all = await readAll(client);
  expect(all.size).toBe(TEXTS.length * GROUPS);
  const counts = { before: 0, half: 0, whole: 0 };
  for (const { memories } of groups) {
    const ids = memories.map(({ id }) => id);
    const done = ids.filter((id) => all.get(id)?.superseded_by).length;
    const linked = memories.map((memory, place) => ({
      ...memory,
      supersedes: place < done ? ids[place + 1] : null,
      superseded_by: place > 0 && place <= done ? ids[place - 1] : null,
    }));
    expect(ids.map((id) => all.get(id))).toEqual(linked as Memory[]);
    counts[done === 0 ? "before" : done === 1 ? "half" : "whole"]++;
  }
  return counts;
}

/** Waits until an earlier memory of a group is superseded, the first or the last one. */
const untilSuperseded = (client: Client, group: TidyGroup | undefined, place = 1, pause = 10) =>
  until(
    "the memory is superseded",
    async () => {
      const { id = "" } = group?.memories.at(place) ?? {};
      return (await client.get(id)).superseded_by !== null;
    },
    pause,
  );

/** Waits until all groups are applied. */
async function untilDone(client: Client, groups: readonly TidyGroup[]) {
  // One after the other: all together may take longer on a busy machine than a condition may.
  for (const group of groups) await untilSuperseded(client, group, -1, 200);
  expect(await stateOf(client, groups)).toEqual({ before: 0, half: 0, whole: GROUPS });
  expect((await report(client)).groups).toEqual([]);
}

/** A function that starts a server whose clock is ahead by so much, lets a client use it, and kills it. */
const killing =
  (folder: string, key: string, kind: ServerKind = "impatient") =>
  async <Result>(ahead: number, use: (client: Client) => Promise<Result>) => {
    await using server = spawnServer(folder, kind, { CLOCK_AHEAD: String(ahead) });
    const used = await use(createClient(await server.origin(), key));
    await server.kill();
    return used;
  };

/** The same with a server in this process, which ends in order. */
const serving =
  (folder: string, key: string) =>
  async <Result>(ahead: number, use: (client: Client) => Promise<Result>) => {
    await using server = await serveImpatiently(folder, { ahead });
    return await use(createClient(server.origin, key));
  };

/** A data folder in which the groups are found. Each test has a copy. */
const planted = { folder: folderOfTest(), key: "", groups: [] as TidyGroup[] };
beforeAll(async () => {
  const { path } = planted.folder;
  planted.key = (await addAccountTo(path)).key;
  planted.groups = await serving(path, planted.key)(-NOT_DUE, (client) => plant(client, path));
});
afterAll(() => planted.folder[Symbol.dispose]());

function copyOfPlanted() {
  const folder = folderOfTest();
  cpSync(planted.folder.path, folder.path, { recursive: true });
  const { key, groups } = planted;
  return {
    groups,
    untilKilled: killing(folder.path, key),
    served: serving(folder.path, key),
    ...folder,
  };
}

test.concurrent("a server that is killed in the midst of tidying finishes it after the next start, also if it is killed again", async () => {
  using copy = copyOfPlanted();
  const { groups, untilKilled, served } = copy;
  const id = await served(-NOT_DUE, (client) => apply(client, groups));
  // It is due when this server starts.
  await untilKilled(0, (client) =>
    untilSuperseded(client, random.pick(groups.slice(0, GROUPS / 4))),
  );
  /** Checks a server that lets the change of the killed one be. Returns how many groups are as before. */
  const check = async (client: Client) => {
    const { before, half } = await stateOf(client, groups);
    expect(before).toBeGreaterThan(0);
    expect(half).toBeLessThanOrEqual(1);
    expect(await undo(client, id)).toBe(409);
    // It is still to be applied.
    expect((await report(client)).groups).toEqual([]);
    return before;
  };
  const left = await served(-NOT_DUE, check);
  await untilKilled(ABANDONED, async (client) => {
    await untilSuperseded(client, random.pick(groups.slice(-left, -left / 2)));
  });
  expect(await served(-NOT_DUE, check)).toBeLessThan(left);
  await served(2 * ABANDONED, async (client) => {
    await untilDone(client, groups);
    expect((await send(client, groups)).status).toBe(409);
  });
}, 240_000);

test.concurrent("a server that is killed before it tidies has changed nothing, and lets undo it after the next start", async () => {
  using copy = copyOfPlanted();
  const { groups, untilKilled, served } = copy;
  const id = await untilKilled(NOT_DUE, (client) => apply(client, groups));
  await served(0, async (client) => {
    expect(await stateOf(client, groups)).toEqual({ before: GROUPS, half: 0, whole: 0 });
    expect((await report(client)).groups).toEqual([]);
    expect(await undo(client, id)).toBe(200);
    expect((await report(client)).groups).toEqual(groups);
    expect(await undo(client, id)).toBe(409);
  });
  const sent = await untilKilled(NOT_DUE, async (client) => {
    const answer = send(client, groups).catch(() => null);
    // Any moment of the request.
    await Bun.sleep(random.below(60));
    return [answer];
  });
  await Promise.all(sent);
  await served(NOT_DUE, async (client) => {
    const { groups: again } = await report(client);
    // Either the request has left nothing behind, or it is carried out.
    if (again.length === 0) return;
    expect(again).toEqual(groups);
    await apply(client, again);
  });
  await served(2 * NOT_DUE, (client) => untilDone(client, groups));
}, 240_000);

test.skipIf(!process.env.LONG)(
  "so does the program as people run it, some two minutes later",
  async () => {
    using folder = folderOfTest();
    const { key } = await addAccountTo(folder.path);
    const untilKilled = killing(folder.path, key, "real");
    const groups = await untilKilled(0, async (client) => {
      const groups = await plant(client, folder.path);
      await apply(client, groups);
      await untilSuperseded(client, random.pick(groups.slice(0, GROUPS / 4)));
      return groups;
    });
    await untilKilled(0, async (client) => {
      expect((await stateOf(client, groups)).before).toBeGreaterThan(0);
      // It takes more than the minute that a condition may take.
      await untilSuperseded(client, groups.at(-1)).catch(() => {});
      await untilDone(client, groups);
    });
  },
  300_000,
);
