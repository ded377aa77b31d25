import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createClient } from "../support/client.ts";
import { createRandom } from "../support/random.ts";
import { addAccountTo, type ServerKind, spawnServer } from "../support/server-process.ts";
import { createWriter } from "./writer.ts";

/**
 * Power cuts of a real file system: `bun test/crash/power-cut-disk.ts --rounds 30`, as root on Linux.
 * The data is on ext4 in an image file. What the kernel has not been made to write is not in the
 * image; a copy of it, taken when the server is killed, is the disk after a power cut. With `--models`
 * the model is another one after every second cut, so that tables are made anew meanwhile.
 */
const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "30" },
    seed: { type: "string", default: "1" },
    server: { type: "string", default: "impatient" },
    models: { type: "boolean", default: false },
  },
});
const kind: ServerKind = values.server === "real" ? "real" : "impatient";
const random = createRandom(Number(values.seed));
const folder = mkdtempSync(join(tmpdir(), "ctxd-power-"));
const [image, cut, disk] = [join(folder, "image"), join(folder, "cut"), join(folder, "disk")];
const dataDir = join(disk, "data");

function run(...command: string[]) {
  const { success, stderr } = Bun.spawnSync(command);
  if (!success) throw new Error(`${command.join(" ")}: ${stderr}`);
}
// Nothing is written by the way: only what was asked for with fsync reaches the image.
const mount = () => run("mount", "-o", "loop,commit=300", image, disk);
const unmount = () => run("umount", disk);

mkdirSync(disk);
run("truncate", "-s", "256M", image);
run("mkfs.ext4", "-q", "-F", image);
mount();
try {
  const { key } = await addAccountTo(dataDir);
  run("sync", "-f", disk);
  const writers = Array.from({ length: 4 }, (_, n) => createWriter(`agent${n}`, random));
  for (let round = 0; round < Number(values.rounds); round++) {
    const settings = values.models ? { FAKE_MODEL: `fake${round >> 1}` } : {};
    await using server = spawnServer(dataDir, kind, settings);
    const origin = await server.origin();
    for (const writer of writers) await writer.check(createClient(origin, key));
    const writing = writers.map((writer) => writer.write(origin, key, () => false));
    await Bun.sleep(random.below(3_000));
    await server.kill();
    copyFileSync(image, cut);
    await Promise.all(writing);
    unmount();
    renameSync(cut, image);
    mount();
    const sums = writers.map((writer) => writer.counts().writes);
    console.log(JSON.stringify({ round, writes: sums.reduce((sum, count) => sum + count, 0) }));
  }
  await using server = spawnServer(dataDir, kind);
  const client = createClient(await server.origin(), key);
  for (const writer of writers) await writer.check(client);
  console.log("every answered write is there");
} finally {
  if (existsSync(dataDir)) unmount();
  rmSync(folder, { recursive: true, force: true });
}
