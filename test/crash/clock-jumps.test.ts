import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../support/client.ts";
import { temporaryFolder } from "../support/database.ts";
import { createRandom } from "../support/random.ts";
import { addAccountTo, spawnServer } from "../support/server-process.ts";
import { filesWith, untilGone } from "./traces.ts";
import { createUnreliableMachine, missing } from "./unreliable.ts";
import { createWriter } from "./writer.ts";

const DAY = 24 * 3_600;
/** By how many seconds the clock is wrong, one after the other. */
const JUMPS = [-DAY, 365 * DAY, 0];
const PATIENCE = 30_000;
if (missing) console.warn(`skipped: no clock that jumps, ${missing}`);

test.skipIf(missing !== null)(
  "a clock that jumps while clients write loses nothing, and what is forgotten leaves the files",
  async () => {
    const random = createRandom(Number(process.env.SEED ?? 1));
    const dataDir = temporaryFolder();
    const machine = createUnreliableMachine(dataDir);
    const { key } = await addAccountTo(dataDir);
    const writers = Array.from({ length: 3 }, (_, n) => createWriter(`agent${n}`, random));
    const bases = join(dataDir, "memories");
    const start = () => spawnServer(dataDir, "impatient", machine.settings);
    machine.set({});
    let server = start();
    try {
      for (const seconds of JUMPS) {
        const origin = await server.origin();
        const client = createClient(origin, key);
        let isOver = false;
        const writing = Promise.all(writers.map(({ write }) => write(origin, key, () => isOver)));
        const word = random.word();
        const { id } = await client.save({ content: `${word} before the clock is set` });
        await Bun.sleep(random.below(600));
        machine.set({ seconds });
        const late = await client.save({ content: `after the clock was set by ${seconds}` });
        const told = Date.parse(late.created_at) - Date.now();
        expect(Math.abs(told / 1_000 - seconds)).toBeLessThan(3_600);
        await client.remove(id);
        await Bun.sleep(random.below(600));
        isOver = true;
        await writing;
        for (const writer of writers) {
          // Of requests that a clock says were sent more than a day ago.
          writer.forgetKeys();
          await writer.check(client);
        }
        expect(await untilGone(dataDir, [word], PATIENCE)).toEqual([]);
        // The base in use, and those that a flush under way writes and removes.
        expect(readdirSync(bases).length).toBeLessThan(5);
        expect(readdirSync(bases, { recursive: true }).length).toBeLessThan(200);
        // Every other time the server starts while the clock is wrong.
        if (random.below(2)) continue;
        if (random.below(2)) await server.kill();
        else expect(await server.end()).toBe(0);
        server = start();
      }
      const client = createClient(await server.origin(), key);
      for (const writer of writers) await writer.check(client);
    } finally {
      await server.kill();
    }
    expect(filesWith(dataDir, ["after the clock was set"])).not.toEqual([]);
  },
);
