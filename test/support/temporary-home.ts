import { afterAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopServer } from "./bridge.ts";

/**
 * A new home folder for all tests of a file, and a data folder in it. After them the server of the data folder is stopped, and
 * the home folder is removed.
 */
export function temporaryHome(): { home: string; dataDir: string } {
  const home = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  const dataDir = join(home, "data");
  afterAll(async () => {
    await stopServer(dataDir);
    rmSync(home, { recursive: true, force: true });
  });
  return { home, dataDir };
}
