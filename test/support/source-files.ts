import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";

export const SOURCE = join(import.meta.dir, "..", "..", "src");

export interface Import {
  /** A path below src, or the name of a package. */
  target: string;
  isTypeOnly: boolean;
}

export interface SourceFile {
  /** Below src. */
  path: string;
  text: string;
  /** The text without comments. */
  code: string;
  imports: Import[];
}

const IMPORTS =
  /\b(?:import|export)\s+(type\s)?[^;"'()]*?\bfrom\s*["']([^"']+)["']|\bimport\s*["']([^"']+)["']|(typeof\s+)?\bimport\(\s*["']([^"']+)["']|\brequire\(\s*["']([^"']+)["']/g;

/** The imports and re-exports of a file. @param path below src */
export function readImports(path: string, code: string): Import[] {
  return [...code.matchAll(IMPORTS)].map(([, type, from, bare, typeOf, dynamic, required]) => {
    const target = from ?? bare ?? dynamic ?? required ?? "";
    return {
      target: target.startsWith(".") ? normalize(join(dirname(path), target)) : target,
      isTypeOnly: type !== undefined || typeOf !== undefined,
    };
  });
}

/** The folder or file at the top of src that a path belongs to. */
export const partOf = (path: string) => path.split("/")[0] ?? path;

async function readSource(): Promise<SourceFile[]> {
  const paths = await Array.fromAsync(new Glob("**/*.{ts,tsx}").scan(SOURCE));
  // The clients are separate programs with their own libraries.
  const ofServer = paths.filter((path) => partOf(path) !== "clients");
  return Promise.all(
    ofServer.map(async (path) => {
      const text = await Bun.file(join(SOURCE, path)).text();
      const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
      return { path, text, code, imports: readImports(path, code) };
    }),
  );
}

/** All files of src but the clients. */
export const sourceFiles: readonly SourceFile[] = await readSource();

/** The imports that a rule forbids, as `file → target`. */
export function forbiddenImports(
  isForbidden: (file: SourceFile, imported: Import) => boolean,
): string[] {
  return sourceFiles.flatMap((file) =>
    file.imports
      .filter((imported) => isForbidden(file, imported))
      .map(({ target }) => `${file.path} → ${target}`),
  );
}

/** Paths of the files whose code matches a pattern. */
export function filesWith(pattern: RegExp, allowed: readonly string[] = []): string[] {
  return sourceFiles
    .filter(({ path, code }) => pattern.test(code) && !allowed.includes(path))
    .map(({ path }) => path);
}

/** Groups of files that import each other in a circle. The groups, and the files of each, are sorted. */
export function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const reachedFrom = (start: string): Set<string> => {
    const reached = new Set<string>();
    const waiting = [...(imports.get(start) ?? [])];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (reached.has(next)) continue;
      reached.add(next);
      waiting.push(...(imports.get(next) ?? []));
    }
    return reached;
  };
  const reached = new Map([...imports.keys()].map((path) => [path, reachedFrom(path)]));
  const inCircles = [...reached].filter(([path, of]) => of.has(path)).map(([path]) => path);
  const circles = inCircles.map((path) =>
    inCircles.filter((other) => reached.get(path)?.has(other) && reached.get(other)?.has(path)),
  );
  return [...new Map(circles.map((circle) => [circle.join(), circle.toSorted()])).values()].sort();
}
