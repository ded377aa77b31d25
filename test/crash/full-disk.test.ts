import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Memory } from "../../src/memories/model/memory.ts";
import { type Client, createClient } from "../support/client.ts";
import { createRandom } from "../support/random.ts";
import { addAccountTo, type ServerProcess, spawnServer } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { serveImpatiently } from "./impatient-server.ts";
import { readAll } from "./writer.ts";

/** A disk of 24 MiB in memory; only root can make one, as CI does. */
const disk = mkdtempSync(join(tmpdir(), "ctxd-disk-"));
const mounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", disk]).success;
afterAll(() => {
  if (mounted) Bun.spawnSync(["umount", "--lazy", disk]);
  rmSync(disk, { recursive: true, force: true });
});
if (!mounted) console.warn("skipped: a tmpfs can't be mounted here, which takes root");

const filler = join(disk, "filler");
const isFree = () => statfsSync(disk).bfree * statfsSync(disk).bsize;

/** Takes all the space there is, to the last block. */
function fill() {
  for (let size = 1 << 20; size >= 1; size >>= 1) {
    try {
      for (;;) writeFileSync(filler, new Uint8Array(size), { flag: "a" });
    } catch {}
  }
}
const free = () => rmSync(filler, { force: true });

/** Fills the disk until a flush that was under way gives no space back any more. */
async function fillForGood() {
  for (let quiet = 0; quiet < 20; quiet++) {
    if (isFree() > 0) quiet = 0;
    fill();
    await Bun.sleep(50);
  }
}

/** Waits until a server has said something since it had said so much, at most as long as upkeep takes. */
async function heard(server: ServerProcess, text: string, from: number): Promise<void> {
  const end = performance.now() + 1_500;
  while (!server.errors().slice(from).includes(text) && performance.now() < end) {
    await Bun.sleep(20);
  }
}

/** What differs, in few words: whole memories would fill the screen. */
async function differences(client: Client, expected: ReadonlyMap<string, Memory>) {
  const actual = await readAll(client);
  const ids = [...expected.keys()];
  return {
    missing: ids.filter((id) => !actual.has(id)),
    unexpected: [...actual.values()]
      .filter(({ id }) => !expected.has(id))
      .map(({ content }) => content.slice(0, 20)),
    changed: ids.filter(
      (id) => actual.has(id) && !Bun.deepEquals(actual.get(id), expected.get(id)),
    ),
  };
}
const NONE = { missing: [], unexpected: [], changed: [] };

const REFUSED = {
  status: 503,
  body: { error: { code: "unavailable", message: expect.stringMatching(/disk is full/) } },
};

test.skipIf(!mounted)(
  "on a full disk writes are refused, reads go on, nothing is lost, and space mends it",
  async () => {
    const random = createRandom(1);
    const dataDir = join(disk, "data");
    mkdirSync(dataDir);
    const { key } = await addAccountTo(dataDir);
    await using server = spawnServer(dataDir, "impatient");
    const client = createClient(await server.origin(), key);
    const expected = new Map<string, Memory>();
    const keep = (memory: Memory) => expected.set(memory.id, memory);
    const isWhole = async () => expect(await differences(client, expected)).toEqual(NONE);

    keep(await client.save({ content: "the first memory" }));
    for (let round = 0; round < 2; round++) {
      // Upkeep is at work while space runs out.
      writeFileSync(filler, new Uint8Array(Math.max(0, isFree() - (4 << 20))));
      let refused = 0;
      for (let step = 0; refused < 10 && step < 2_000; step++) {
        const content = `${random.word()} ${"filling ".repeat(800)}`;
        const [target] = [...expected.values()].slice(-1 - random.below(expected.size));
        const answer =
          target && step % 4 === 3
            ? await client.send("PUT", `/memories/${target.id}`, { json: { content } })
            : await client.send("POST", "/memories", { json: { content } });
        if (answer.status === 503) refused++;
        else keep(answer.body as Memory);
        expect([200, 201, 503]).toContain(answer.status);
      }
      expect(refused).toBe(10);
      await isWhole();
      const filled = server.errors().length;
      await fillForGood();

      // The database's files have room of their own for small writes.
      // A flush that was under way may give space back late, so the disk is filled again after each answered write.
      for (let inRow = 0, step = 0; inRow < 30 && step < 3_000; step++) {
        const answer = await client.send("POST", "/memories", {
          json: { content: `x ${round} ${step}` },
        });
        inRow++;
        await Bun.sleep(inRow);
        if (answer.status === 503) continue;
        keep(answer.body as Memory);
        fill();
        inRow = 0;
      }

      const [some] = [...expected.values()];
      const id = some?.id ?? "";
      const memories = [{ content: "one" }, { content: "two" }];
      const headers = { "idempotency-key": `round-${round}` };
      const json = { content: `what round ${round} refuses` };
      const refusals = [
        () => client.send("POST", "/memories", { json, headers }),
        () => client.send("POST", "/memories/batch", { json: { memories } }),
      ];
      for (const refusal of refusals) expect(await refusal()).toMatchObject(REFUSED);
      for (const answer of await Promise.all([...refusals, ...refusals].map((send) => send()))) {
        expect(answer).toMatchObject(REFUSED);
      }
      // What takes less room may be possible.
      const changed = await client.send("PUT", `/memories/${id}`, { json: { tags: ["changed"] } });
      if (changed.status === 200) keep(changed.body as Memory);
      else expect(changed).toMatchObject(REFUSED);
      await isWhole();
      const [word = ""] = some?.content.split(" ") ?? [];
      const search = async () => (await client.search(word, { limit: 100 })).map((each) => each.id);
      expect(await search()).toContain(id);
      // Upkeep tries and fails meanwhile, if it has anything to do.
      await heard(server, "upkeep_failed", filled);
      await isWhole();
      expect(await search()).toContain(id);
      expect(server.isRunning()).toBe(true);

      const freed = server.errors().length;
      free();
      const saved = await until("a save succeeds", async () => {
        const answer = await client.send("POST", "/memories", { json, headers });
        return answer.status !== 503 && answer;
      });
      expect(saved.status).toBe(201);
      keep(saved.body as Memory);
      await client.remove(id);
      expected.delete(id);
      await isWhole();
      await heard(server, "debug upkeep", freed);
    }
    expect(await server.end()).toBe(0);
  },
);

test.skipIf(!mounted)(
  "what was refused on a full disk is not there after kill -9, and a start there works or says why",
  async () => {
    const random = createRandom(2);
    const dataDir = join(disk, "killed");
    mkdirSync(dataDir);
    const { key } = await addAccountTo(dataDir);
    const expected = new Map<string, Memory>();
    const outcomes = { served: 0, refused: 0 };
    for (let round = 0; round < 3; round++) {
      free();
      await using server = spawnServer(dataDir, "impatient");
      const client = createClient(await server.origin(), key);
      expect(await differences(client, expected)).toEqual(NONE);
      writeFileSync(
        filler,
        new Uint8Array(Math.max(0, isFree() - (1 << 20) - random.below(1 << 20))),
      );
      for (let refused = 0; refused < 5; ) {
        const content = `${random.word()} ${"filling ".repeat(random.below(400))}`;
        const answer = await client.send("POST", "/memories", { json: { content } });
        if (answer.status === 503) refused++;
        else expected.set((answer.body as Memory).id, answer.body as Memory);
        if (refused === 3) fill();
      }
      await server.kill();

      // Still full.
      await using again = spawnServer(dataDir, "impatient");
      const origin = await again.origin().catch(() => null);
      if (origin === null) {
        outcomes.refused++;
        expect(again.errors()).toMatch(/disk is full/);
      } else {
        const answer = await createClient(origin, key).send("GET", "/memories?limit=100");
        if (answer.status === 200) outcomes.served++;
        else expect(answer).toMatchObject(REFUSED);
      }
      await again.kill();
    }
    free();
    await using server = await serveImpatiently(dataDir);
    expect(await differences(createClient(server.origin, key), expected)).toEqual(NONE);
  },
);

test.skipIf(!mounted)("ctxd serve on a full disk starts, or says why in one sentence", async () => {
  free();
  const dataDir = join(disk, "real");
  mkdirSync(dataDir);
  await addAccountTo(dataDir);
  fill();
  await using server = spawnServer(dataDir, "real");
  const origin = await server.origin().catch(() => null);
  if (origin === null) {
    expect(server.errors()).toMatch(/^ctxd: [^\n]*disk is full[^\n]*\.\n$/);
    expect(await server.exited).toBe(1);
  }
  free();
});
