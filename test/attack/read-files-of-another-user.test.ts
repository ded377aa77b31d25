import { expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { program, stopServer } from "../support/bridge.ts";
import { commandLine } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";

/** Runs a command in a shell with umask 0. */
async function runOpen(args: readonly string[], dataDir: string, input = "") {
  const command = commandLine(args, { dataDir });
  const child = Bun.spawn(["sh", "-c", 'umask 000; exec "$@"', "sh", ...command], {
    env: program(dataDir).env,
    stdin: new Blob([input]),
    stdout: "ignore",
    stderr: "pipe",
  });
  const errors = await child.stderr.text();
  expect({ args, errors, exitCode: await child.exited }).toMatchObject({ exitCode: 0 });
}

/** The files of a folder that other users may read or write, with their modes. */
function openToOthers(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).flatMap((name) => {
    const info = lstatSync(join(folder, name), { throwIfNoEntry: false });
    // SQLite removes its files when the last connection closes.
    return !info || (info.mode & 0o077) === 0 || info.isSymbolicLink()
      ? []
      : [`${name} ${(info.mode & 0o777).toString(8)}`];
  });
}

test("another user can't read files that ctxd wrote with a permissive umask", async () => {
  const folder = temporaryFolder();
  const dataDir = join(folder, "data");
  // As in a checkout, the folder exists and others may read it.
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o755);
  try {
    await runOpen(["user", "add", "you@example.com"], dataDir, "correct horse battery\n");
    const notes = join(folder, "notes.md");
    await Bun.write(notes, "The key is under the mat.\n");
    chmodSync(notes, 0o600);
    await runOpen(["import", notes], dataDir);
    await runOpen(["export", join(folder, "memories.jsonl")], dataDir);
    await runOpen(["backup", join(folder, "backup")], dataDir);
    expect(readdirSync(dataDir)).toContain("ctxd.sock");
  } finally {
    await stopServer(dataDir);
  }
  expect(openToOthers(folder)).toEqual(["data 755"]);
});
