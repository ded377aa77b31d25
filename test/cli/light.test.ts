import { expect, test } from "bun:test";
import { join } from "node:path";
import { sourceFiles } from "../support/source-files.ts";

const transpiler = new Bun.Transpiler({ loader: "tsx" });
const texts = new Map(sourceFiles.map(({ path, text }) => [path, text]));

/** The files and packages that are loaded with a module, without what it loads when it needs it. */
function loadedWith(start: string): { files: string[]; packages: string[] } {
  const [files, packages] = [new Set([start]), new Set<string>()];
  for (const file of files) {
    for (const { path, kind } of transpiler.scanImports(texts.get(file) ?? "")) {
      if (kind !== "import-statement") continue;
      if (path.startsWith(".")) files.add(join(file, "..", path));
      else if (!path.startsWith("node:") && !path.startsWith("bun")) packages.add(path);
    }
  }
  return { files: [...files], packages: [...packages].sort() };
}

test("hooks of a remote server load few files more, and neither database nor transcripts", () => {
  const { files, packages } = loadedWith("cli/server/remote-hooks.ts");
  expect(files).toContain("capture/unsent.ts");
  expect(files.filter((file) => /^(db|app|import\/transcripts)\b/.test(file))).toEqual([]);
  expect(packages).toEqual(["commander"]);
  expect(files.length).toBeLessThanOrEqual(40);
});
