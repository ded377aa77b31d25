import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MODULE = join(import.meta.dir, "..", "..", "src", "build", "bundle.ts");

/** Bundles a program of several chunks in its folder, as the build does, and prints them. */
const SCRIPT = `
import { join } from "node:path";
import { generatedModules } from ${JSON.stringify(MODULE)};

const folder = process.cwd();
const generated = { [join(folder, "facts.ts")]: 'export const fact: string = "made";' };
const { outputs } = await Bun.build({
  entrypoints: ["one.ts", "two.ts"].map((name) => join(folder, name)),
  root: folder,
  splitting: true,
  format: "esm",
  minify: { whitespace: true, syntax: true },
  plugins: [generatedModules(generated)],
});
for (const output of outputs) console.log(output.path, await output.text());
`;

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
afterAll(() => rmSync(root, { recursive: true }));

async function bundleIn(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const part = 'import { fact } from "./facts.ts"; console.log(fact); export { fact };';
  await Bun.write(join(folder, "facts.ts"), "export const fact: string | null = null;");
  for (const name of ["one", "two"]) await Bun.write(join(folder, `${name}.ts`), part);
  await Bun.write(join(folder, "bundle.ts"), SCRIPT);
  return await Bun.$`${process.execPath} bundle.ts`.cwd(folder).text();
}

test("a generated module replaces a file, and the bytes do not depend on the folder", async () => {
  const bundle = await bundleIn(join(root, "a"));
  expect(bundle).toMatch(/chunk-\w+\.js/);
  expect(bundle).toContain('"made"');
  expect(await bundleIn(join(root, "longer than a", "b"))).toBe(bundle);
});
