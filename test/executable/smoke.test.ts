import { beforeAll, expect, test } from "bun:test";
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executableName, ownTargetName, targetNamed } from "../../src/native/targets.ts";
import { buildExecutable } from "../support/executable.ts";

/** The smoke test that the workflows run for the executable of every system. */
const SCRIPT = join(import.meta.dir, "..", "..", ".ci", "smoke");
const target = targetNamed(ownTargetName());

beforeAll(buildExecutable, 20 * 60_000);

function smoke(put: (path: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  try {
    put(join(folder, executableName(target)));
    const { exitCode, stdout, stderr } = Bun.spawnSync([SCRIPT, target, folder]);
    return { exitCode, output: stdout.toString(), errors: stderr.toString() };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("a working executable passes the smoke test of a release", async () => {
  const executable = await buildExecutable();
  const { exitCode, output, errors } = smoke((path) => copyFileSync(executable, path));
  expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
  expect(output.trim().split("\n")).toHaveLength(5);
});

test("an executable that only prints its version fails", () => {
  const { exitCode, errors } = smoke((path) => {
    writeFileSync(path, "#!/bin/sh\necho 1.2.3\n");
    chmodSync(path, 0o755);
  });
  expect(exitCode).toBe(1);
  expect(errors).not.toBe("");
});
