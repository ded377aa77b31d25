import { expect, test } from "bun:test";
import { readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";

test("ONNX Runtime writes nothing outside the cache: no identifier, no events to upload", async () => {
  const home = temporaryFolder();
  const script = `
    import { createWorkerEmbedder } from "./src/embedding/worker-embedder.ts";
    import { silentLog } from "./test/support/embedder.ts";
    const embedder = createWorkerEmbedder({ cacheDir: ${JSON.stringify(testCacheDir)}, log: silentLog });
    await embedder.embedQuery("what does it tell");
    await embedder.close();
  `;
  // ONNX Runtime sends nothing when it sees that it is tested, so CI must not be set.
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, "-e", script], {
    cwd: join(import.meta.dir, "..", ".."),
    env: { HOME: home, XDG_CACHE_HOME: home, TMPDIR: tmpdir(), PATH: process.env.PATH ?? "" },
  });
  expect(stderr.toString()).toBe("");
  expect(exitCode).toBe(0);
  const remaining = await readdir(home);
  // Bun caches transpiled modules there. The executable does not.
  expect(remaining.filter((name) => name !== "bun")).toEqual([]);
});
