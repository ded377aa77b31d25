import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const SCRIPT = `
  await import("./src/cli/program.ts");
  await import("./src/cli/commands/" + process.argv.at(-1) + ".ts");
  console.log(JSON.stringify(Object.keys(require.cache)));`;

/** The files of src and the packages that a command has loaded when it begins its work. */
async function loadedBy(command: string) {
  const child = Bun.spawn([process.execPath, "-e", SCRIPT, command], { cwd: ROOT, stdout: "pipe" });
  const paths: string[] = JSON.parse(await child.stdout.text());
  const packages = paths.flatMap(
    (path) => /\/node_modules\/((@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
  return {
    files: paths.filter((path) => path.startsWith(join(ROOT, "src"))),
    packages: [...new Set(packages)].sort(),
  };
}

// An agent waits for each of them to start. A larger number needs a reason, a package a good one.
test.each([
  ["mcp", 43, ["@sinclair/typebox", "commander"]],
  ["recall", 20, ["commander"]],
  ["capture", 20, ["commander"]],
])("ctxd %s loads at most %d files, and few packages", async (command, most, packages) => {
  const loaded = await loadedBy(command);
  expect(loaded.packages).toEqual(packages);
  expect(loaded.files.length).toBeLessThanOrEqual(most);
  expect(loaded.files).toContain(join(ROOT, "src", "cli", "commands", `${command}.ts`));
});
