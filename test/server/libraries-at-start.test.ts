import { expect, test } from "bun:test";
import { join } from "node:path";

const SOURCE = join(import.meta.dir, "..", "..", "src");

/** Packages that only some requests need. Loading one takes up to 20 ms of processor time. */
const LATER = [
  "@elysiajs/swagger",
  "@lancedb/lancedb",
  "@modelcontextprotocol/server",
  "@opentelemetry/api",
  "toml-eslint-parser",
  "yaml",
];

/** The packages of which a new process has loaded modules after it has imported these modules of the program. */
async function packagesOf(modules: readonly string[]): Promise<string[]> {
  const script = `
    for (const path of ${JSON.stringify(modules.map((path) => join(SOURCE, path)))}) await import(path);
    console.log(JSON.stringify(Object.keys(require.cache)));`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "inherit" });
  const paths: string[] = await child.stdout.json();
  const names = paths.map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? "");
  return [...new Set(names)];
}

test("a server starts without the packages that only some requests need", async () => {
  const packages = await packagesOf(["server/serve.ts", "access/access.ts", "app.ts"]);
  expect(packages).toContain("elysia");
  expect(packages.filter((name) => LATER.includes(name))).toEqual([]);
});
