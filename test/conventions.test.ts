import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { dependencies } from "../package.json" with { type: "json" };
import {
  filesWith,
  forbiddenImports,
  partOf,
  SOURCE,
  sourceFiles,
} from "./support/source-files.ts";

/** The packages that the owner of the project asked for. */
const NAMED_PACKAGES = [
  "elysia",
  "@elysiajs/swagger",
  "drizzle-orm",
  "@lancedb/lancedb",
  "fastembed",
  "arctic",
];

test.each(NAMED_PACKAGES)(
  "%s, which the owner named, is a pinned dependency and is used",
  (name) => {
    const versions: Record<string, string> = dependencies;
    expect(versions[name]).toMatch(/^\d+\.\d+\.\d+$/);
    const used = forbiddenImports(
      (_, { target, isTypeOnly }) => !isTypeOnly && `${target}/`.startsWith(`${name}/`),
    );
    expect(used).not.toEqual([]);
  },
);

/** Contain the SQL dialects of several databases. */
const WITH_DIALECTS = ["db/database.ts"];

test("queries are awaited, except in code for SQLite only", () => {
  const ofSqlite = /^(db\/(sqlite[\w-]*|data-lock)\.ts$|memories\/log\/|backup\/|doctor\/)/;
  const found = sourceFiles.filter(
    ({ path, code, imports }) =>
      /\.(get|all|run)\(\s*(\{|\))/.test(code) &&
      imports.some(({ target }) => target.startsWith("drizzle-orm")) &&
      !ofSqlite.test(path),
  );
  expect(found.map(({ path }) => path)).toEqual([]);
  const sqlite = /^(bun:sqlite|drizzle-orm\/(bun-sqlite|sqlite-))/;
  const importing = forbiddenImports(
    ({ path }, { target }) =>
      sqlite.test(target) && !ofSqlite.test(path) && !WITH_DIALECTS.includes(path),
  );
  expect(importing).toEqual([]);
});

test("only memories/base/filter-sql.ts puts values into filters", () => {
  const template = /\.(where|onlyIf|delete|countRows|filter)\(\s*`/;
  expect(filesWith(template, ["memories/base/filter-sql.ts"])).toEqual([]);
  // A quoted value is part of a filter as well.
  const quoted = /(=|<|>|\bIN \(|\bLIKE|\[)\s*'\$\{/;
  expect(filesWith(quoted, ["memories/base/filter-sql.ts"])).toEqual([]);
});

test("every page names its JSX runtime, because Bun reads tsconfig.json of the current folder only", () => {
  const pages = sourceFiles.filter(({ path }) => path.endsWith(".tsx"));
  expect(pages.length).toBeGreaterThan(3);
  for (const { text } of pages) {
    expect(text).toStartWith("/** @jsxRuntime automatic @jsxImportSource #pages */\n");
  }
});

/** Code that depends on the operating system. */
const OF_SYSTEMS =
  /process\.(platform|umask|getuid|geteuid|getgid)|["'`]\/proc\/|\bhomedir\b|\bdlopen\(/;

test("only system/ depends on the operating system", () => {
  const found = filesWith(OF_SYSTEMS, [
    // Names the target of this machine.
    "native/targets.ts",
    // Load the embedded libraries.
    "native/addons.ts",
    "native/inference.ts",
    // Runs before any other module is loaded.
    "main.ts",
    // Pass it on: each system keeps the files of clients elsewhere.
    "cli/commands/connect/list.ts",
    "cli/commands/connect/connect.ts",
    // Check the owners of files, which only Unix has.
    "connect/files.ts",
    "db/database-error.ts",
    "doctor/folders.ts",
  ]);
  expect(found.filter((path) => partOf(path) !== "system")).toEqual([]);
});

test("every error class extends CtxdError and has a unique code", () => {
  expect(filesWith(/\bextends (?:Range|Type|Syntax|Aggregate)?Error\b/, ["errors.ts"])).toEqual([]);
  const codes = sourceFiles.flatMap(({ code }) =>
    [...code.matchAll(/readonly code = "([^"]+)"/g)].map(([, each]) => each),
  );
  expect(codes.length).toBeGreaterThan(10);
  expect(new Set(codes).size).toBe(codes.length);
});

test("only main.ts reads the environment, and passes it on", () => {
  const found = filesWith(/process\s*\.\s*env|Bun\s*\.\s*env|import\.meta\.env/, [
    "main.ts",
    "build/build.ts",
  ]);
  expect(found).toEqual([]);
  const main = sourceFiles.find(({ path }) => path === "main.ts");
  expect(main?.code.match(/process\.env/g)).toHaveLength(1);
});

/** Each command has its file, and each kind of release. */
const ONE_FILE_EACH = ["cli/commands", "build/release"];

test("no file is longer than 300 lines, and together they have at least 120 on average", () => {
  const sizes = sourceFiles.map(({ path, text }) => ({ path, lines: text.split("\n").length - 1 }));
  const long = sizes.filter(({ lines }) => lines > 300);
  expect(long).toEqual([]);
  const sum = sizes.reduce((total, { lines }) => total + lines, 0);
  expect(sum / sizes.length).toBeGreaterThanOrEqual(120);
});

test("no folder has more than 15 files of its own", () => {
  const folders = Map.groupBy(sourceFiles, ({ path }) => dirname(path));
  const crowded = [...folders].filter(
    ([folder, { length }]) => length > 15 && !ONE_FILE_EACH.includes(folder),
  );
  expect(crowded.map(([folder]) => folder)).toEqual([]);
});

/** Paths and texts of all files of the tests. */
async function testTexts() {
  const paths = [...new Glob("**/*.{ts,tsx}").scanSync(import.meta.dir)];
  return Promise.all(
    paths.map(async (path) => {
      const full = join(import.meta.dir, path);
      return [full, await Bun.file(full).text()] as const;
    }),
  );
}

test("no test waits in a matcher, where no time limit holds: outcomeOf and rejectionOf of test/support/outcome.ts tell why", async () => {
  const waiting = (await testTexts()).filter(([, text]) =>
    /\)\s*\.(rejects|resolves)\b/.test(text),
  );
  expect(waiting.map(([path]) => path)).toEqual([]);
});

const EXPORTED =
  /^export (?:async )?(?:const|let|function\*?|class|interface|type)\s+([A-Za-z_$][\w$]*)/gm;
const WORD = /[A-Za-z_$][\w$]*/g;

test("every export is used in another file", async () => {
  const texts = new Map(sourceFiles.map(({ path, text }) => [join(SOURCE, path), text]));
  for (const [path, text] of await testTexts()) texts.set(path, text);
  const users = new Map<string, Set<string>>();
  for (const [path, text] of texts) {
    for (const word of text.match(WORD) ?? []) {
      const files = users.get(word) ?? new Set();
      users.set(word, files.add(path));
    }
  }
  const unused = sourceFiles.flatMap(({ path, text }) =>
    [...text.matchAll(EXPORTED)]
      .map(([, name = ""]) => name)
      .filter((name) => (users.get(name)?.size ?? 0) < 2)
      .map((name) => `${path}: ${name}`),
  );
  expect(unused).toEqual([]);
});
