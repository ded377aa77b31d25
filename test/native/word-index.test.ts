import { expect, test } from "bun:test";
import { join } from "node:path";
import { temporaryFolder } from "../support/database.ts";

const PROGRAM = join(import.meta.dir, "index-words.ts");
/** LanceDB gives its threads as many cores as the process has: one, where that can be chosen. */
const ON_ONE_CORE = Bun.which("taskset") ? ["taskset", "-c", "0"] : [];

test("hundreds of thousands of words are indexed on a machine with one core", async () => {
  const child = Bun.spawn(
    [...ON_ONE_CORE, process.execPath, PROGRAM, temporaryFolder(), "100000"],
    {
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  try {
    expect(await child.stdout.text()).toBe("100000\n");
  } finally {
    child.kill("SIGKILL");
  }
});
