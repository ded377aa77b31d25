import { mkdir, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Glob } from "bun";
import ts from "typescript-5";
import type { Release } from "../release-info.ts";
import { commonFields, pack, writeReadme } from "./pack.ts";

const CLIENT = join(import.meta.dir, "..", "..", "..", "clients", "typescript");
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ES2022,
  verbatimModuleSyntax: true,
  isolatedDeclarations: true,
  rewriteRelativeImportExtensions: true,
};

/** Packs `@ctxd/client`, the TypeScript client. Returns the path of the package. */
export function packClient(release: Release): Promise<string> {
  return pack(release, async (folder) => {
    await buildClient(join(folder, "dist"));
    const readme = await Bun.file(join(CLIENT, "README.md")).text();
    await writeReadme(folder, readme.replace("REPOSITORY", release.repository));
    const {
      private: _,
      scripts,
      devDependencies,
      exports,
      ...fields
    } = await Bun.file(join(CLIENT, "package.json")).json();
    const built = Object.entries<string>(exports).map(([name, path]) => [name, builtOf(path)]);
    return { ...fields, ...commonFields(release), exports: Object.fromEntries(built) };
  });
}

function builtOf(path: string) {
  const stem = path.replace("./src/", "./dist/").replace(/\.ts$/, "");
  return { types: `${stem}.d.ts`, default: `${stem}.js` };
}

/**
 * Compiles the client to JavaScript and type declarations. Each file is compiled by itself, so that the supported
 * frameworks need not be installed. A test checks the types.
 * @param out a folder, which is emptied first
 */
async function buildClient(out: string): Promise<void> {
  await rm(out, { recursive: true, force: true });
  const source = join(CLIENT, "src");
  for (const path of new Glob("**/*.ts").scanSync(source)) {
    const text = await Bun.file(join(source, path)).text();
    const { outputText: code } = ts.transpileModule(text, { compilerOptions: OPTIONS });
    const types = ts.transpileDeclaration(text, { compilerOptions: OPTIONS, fileName: path });
    const [problem] = types.diagnostics ?? [];
    if (problem)
      throw new Error(`${path}: ${ts.flattenDiagnosticMessageText(problem.messageText, " ")}`);
    const stem = join(out, dirname(path), basename(path, ".ts"));
    await mkdir(dirname(stem), { recursive: true });
    await Bun.write(`${stem}.js`, code);
    await Bun.write(`${stem}.d.ts`, types.outputText);
  }
}

if (import.meta.main) await buildClient(join(CLIENT, "dist"));
