import { describe, expect, test } from "bun:test";
import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";

const SOURCE = join(import.meta.dir, "..", "src");

/**
 * The parts of the program: each may import from those that come after it, and from itself. A new
 * folder finds its place here.
 */
const ORDER = [
  "release",
  "main.ts",
  "cli",
  "server",
  "app.ts",
  "mcp",
  "dashboard",
  "doctor",
  "upgrade",
  "backup",
  "connect",
  "capture",
  "import",
  "activity",
  "undo",
  "memories",
  "access",
  "oauth",
  "sign-in",
  "pages",
  "http",
  "keys",
  "accounts",
  "embedding",
  "tls",
  "security-log",
  "db",
  "objects",
  "native",
  "secrets",
  "lines.ts",
  "parse-json.ts",
  "json-parts.ts",
  "pause.ts",
  "input-kinds.ts",
  "stop-words.ts",
  "code-points.ts",
  "short-text.ts",
  "changelog.ts",
  "rate-limit.ts",
  "metrics.ts",
  "log.ts",
  "config.ts",
  "shared-settings.ts",
  "setting-values.ts",
  "settings.ts",
  "downloads.ts",
  "disk-errors.ts",
  "system",
  "time-limit.ts",
  "errors.ts",
];

/** What knows the words of several databases. */
const OF_DIALECTS = ["db/dialect.ts", "db/database.ts"];

/** Runs at build time only, and may know what goes into the executable. */
const BUILD_SCRIPT = "native/build.ts";

interface Import {
  /** A path below src, or the name of a package. */
  target: string;
  isTypeOnly: boolean;
}

interface SourceFile {
  path: string;
  /** Without comments. */
  code: string;
  imports: Import[];
}

const IMPORTS =
  /\b(?:import|export)\s+(type\s)?[^;"'()]*?\bfrom\s*["']([^"']+)["']|\bimport\s*["']([^"']+)["']|(typeof\s+)?\bimport\(\s*["']([^"']+)["']|\brequire\(\s*["']([^"']+)["']/g;

function readImports(path: string, code: string): Import[] {
  return [...code.matchAll(IMPORTS)].map(([, type, from, bare, typeOf, dynamic, required]) => {
    const target = from ?? bare ?? dynamic ?? required ?? "";
    return {
      target: target.startsWith(".") ? normalize(join(dirname(path), target)) : target,
      isTypeOnly: type !== undefined || typeOf !== undefined,
    };
  });
}

async function readSource(): Promise<SourceFile[]> {
  const paths = await Array.fromAsync(new Glob("**/*.{ts,tsx}").scan(SOURCE));
  // Clients are programs of their own, with libraries of their own.
  const ofServer = paths.filter((path) => partOf(path) !== "clients");
  return Promise.all(
    ofServer.map(async (path) => {
      const text = await Bun.file(join(SOURCE, path)).text();
      const code = text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, "");
      return { path, code, imports: readImports(path, code) };
    }),
  );
}

const partOf = (path: string) => path.split("/")[0] ?? path;
const files = await readSource();

const isOurs = ({ target }: Import) => ORDER.includes(partOf(target));

/** Groups of files that all reach each other by imports, each group and the list of them in alphabetical order. */
function circlesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
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

/** All imports that a rule forbids, as `file → target`. */
function breaches(isForbidden: (file: SourceFile, imported: Import) => boolean): string[] {
  return files.flatMap((file) =>
    file.imports
      .filter((imported) => isForbidden(file, imported))
      .map(({ target }) => `${file.path} → ${target}`),
  );
}

/** All files whose code a rule forbids. */
function filesWith(pattern: RegExp, allowed: readonly string[]): string[] {
  return files
    .filter(({ path, code }) => pattern.test(code) && !allowed.includes(path))
    .map(({ path }) => path);
}

test("the source is read: its files, their imports, and of which kind they are", () => {
  expect(files.length).toBeGreaterThan(50);
  const sample = `
    import a, { type B } from "../errors.ts";
    import type { C } from "./c.ts";
    import "side-effect";
    export { d } from "../keys/d.ts";
    const e = await import("fastembed");
    type F = typeof import("@lancedb/lancedb");
    import g = require("apache-arrow");`;
  expect(readImports("memories/x.ts", sample)).toEqual([
    { target: "errors.ts", isTypeOnly: false },
    { target: "memories/c.ts", isTypeOnly: true },
    { target: "side-effect", isTypeOnly: false },
    { target: "keys/d.ts", isTypeOnly: false },
    { target: "fastembed", isTypeOnly: false },
    { target: "@lancedb/lancedb", isTypeOnly: true },
    { target: "apache-arrow", isTypeOnly: false },
  ]);
  const routes = files.find(({ path }) => path === "memories/writing-routes.ts");
  expect(routes?.imports.map(({ target }) => target)).toContain("memories/memories.ts");
});

test("every folder and file at the top has its place in the order", () => {
  const parts = new Set(files.map(({ path }) => partOf(path)));
  expect([...parts].filter((part) => !ORDER.includes(part))).toEqual([]);
});

test("nothing imports upward", () => {
  const found = breaches(
    ({ path }, imported) =>
      path !== BUILD_SCRIPT &&
      isOurs(imported) &&
      ORDER.indexOf(partOf(imported.target)) < ORDER.indexOf(partOf(path)),
  );
  expect(found).toEqual([]);
});

/** Parts whose files may still import each other in a circle. A part goes from this list, and never onto it. */
const WITH_CIRCLES: string[] = [];

test("no files import each other in a circle, not even types", () => {
  const targets = new Map(
    files.map(({ path, imports }) => [path, imports.map(({ target }) => target)]),
  );
  const circles = circlesOf(targets).filter(
    (circle) => !circle.every((path) => WITH_CIRCLES.includes(partOf(path))),
  );
  expect(circles).toEqual([]);
});

test("circles are found: of two files, of more, and of one alone", () => {
  const imports = {
    a: ["b"],
    b: ["c", "x"],
    c: ["a"],
    d: ["e"],
    e: ["d", "a"],
    f: ["f"],
    g: ["a"],
  };
  expect(circlesOf(new Map(Object.entries(imports)))).toEqual([["a", "b", "c"], ["d", "e"], ["f"]]);
});

test("nothing imports a client", () => {
  expect(breaches((_, { target }) => partOf(target) === "clients")).toEqual([]);
});

test("main.ts is the command line's alone, and nobody imports it", () => {
  const main = files.find(({ path }) => path === "main.ts");
  expect(main?.imports.map(({ target }) => partOf(target))).toEqual(["cli"]);
  expect(breaches((_, { target }) => target === "main.ts")).toEqual([]);
});

test("a command's module is loaded by the program alone, and knows the program by its context", () => {
  const found = breaches(({ path }, { target }) => {
    const isCommand = path.startsWith("cli/commands/");
    if (target === "cli/program.ts") return isCommand;
    return target.startsWith("cli/commands/") && path !== "cli/program.ts" && !isCommand;
  });
  expect(found).toEqual([]);
});

test("no domain reaches into the tables of another", () => {
  const found = breaches(
    ({ path }, { target }) =>
      /\/(database-)?tables\.ts$/.test(target) && partOf(target) !== partOf(path),
  );
  expect(found).toEqual([]);
});

test("only routes know HTTP: what they call does not", () => {
  const found = breaches(
    ({ path }, { target }) =>
      /^(memories|keys|accounts|oauth|sign-in|security-log|activity)\//.test(path) &&
      !/\/([\w-]+-)?routes\.tsx?$/.test(path) &&
      (target === "elysia" || partOf(target) === "http" || partOf(target) === "app.ts"),
  );
  expect(found).toEqual([]);
});

test("what speaks to clients goes through the service, not around it", () => {
  const found = breaches(
    ({ path }, { target, isTypeOnly }) =>
      (/^(http|mcp|dashboard)\//.test(path) || /\/([\w-]+-)?routes\.tsx?$/.test(path)) &&
      // What to filter by is part of the service's calls, how it is written is not.
      !(isTypeOnly && target === "memories/filter.ts") &&
      /^memories\/(((open-|local-)?store|(create-|pooled-)?table|open-tables|writer|rows|filter|flush|storage)\.ts$|(log|base|view)\/)/.test(
        target,
      ),
  );
  expect(found).toEqual([]);
});

describe("libraries stay behind their one door:", () => {
  test("LanceDB is loaded in native/ and used in memories/base/ alone; backup/ hands it on", () => {
    const found = breaches(
      ({ path }, { target, isTypeOnly }) =>
        target === "@lancedb/lancedb" &&
        !path.startsWith("native/") &&
        !path.startsWith("memories/base/") &&
        !(isTypeOnly && path.startsWith("backup/")),
    );
    expect(found).toEqual([]);
  });

  test("memories are written through the log and read from the view: few know a base", () => {
    const found = breaches(
      ({ path }, { target, isTypeOnly }) =>
        !isTypeOnly &&
        /^memories\/base\/(bases|lance-base|codec|encode|decode)\.ts$/.test(target) &&
        !/^memories\/(storage\.ts$|base\/)/.test(path),
    );
    expect(found).toEqual([]);
  });

  test.each([
    ["fastembed", /^(fastembed|@anush008\/.*|onnxruntime-node)$/, /^embedding\//],
    ["Arrow", /^apache-arrow$/, /^memories\/base\//],
    ["Elysia", /^(elysia|@elysiajs\/.*)$/, /^(app\.ts|http\/|[\w-]+\/([\w-]+-)?routes\.tsx?$)/],
    [
      "Drizzle",
      /^drizzle-orm/,
      /^(undo|db|accounts|keys|oauth|sign-in|memories|security-log|activity)\//,
    ],
    ["the library of OAuth clients", /^oauth4webapi$/, /^sign-in\/(provider-client|openid)\.ts$/],
    ["the library of passkeys", /^@simplewebauthn\//, /^sign-in\/webauthn\.ts$/],
    ["the library of QR codes", /^qr$/, /^pages\/qr-code\.tsx$/],
    ["the library of Amazon's signatures", /^aws4fetch$/, /^objects\//],
    ["the JSX library", /^@kitajs\//, /^pages\//],
    ["the Prometheus library", /^prom-client$/, /^metrics\.ts$/],
    ["Commander", /^commander$/, /^cli\//],
    ["the MCP library", /^@modelcontextprotocol\//, /^(mcp|cli)\//],
  ])("%s is imported where it belongs", (_, library, allowed) => {
    expect(breaches(({ path }, { target }) => library.test(target) && !allowed.test(path))).toEqual(
      [],
    );
  });
});

test("queries are awaited: only what is SQLite's alone has its synchronous ways", () => {
  const ofSqlite = /^(db\/(sqlite[\w-]*|data-lock)\.ts$|memories\/log\/|backup\/|doctor\/)/;
  const found = files.filter(
    ({ path, code, imports }) =>
      /\.(get|all|run)\(\s*(\{|\))/.test(code) &&
      imports.some(({ target }) => target.startsWith("drizzle-orm")) &&
      !ofSqlite.test(path),
  );
  expect(found.map(({ path }) => path)).toEqual([]);
  const sqlite = /^(bun:sqlite|drizzle-orm\/(bun-sqlite|sqlite-))/;
  const importing = breaches(
    ({ path }, { target }) =>
      sqlite.test(target) && !ofSqlite.test(path) && !OF_DIALECTS.includes(path),
  );
  expect(importing).toEqual([]);
});

test("only memories/base/filter-sql.ts writes filters: nobody else puts a value into one", () => {
  const template = /\.(where|onlyIf|delete|countRows|filter)\(\s*`/;
  expect(filesWith(template, ["memories/base/filter-sql.ts"])).toEqual([]);
  // A value between quotes is a filter too, wherever it is put together.
  const quoted = /(=|<|>|\bIN \(|\bLIKE|\[)\s*'\$\{/;
  expect(filesWith(quoted, ["memories/base/filter-sql.ts"])).toEqual([]);
});

test("every page names its JSX runtime: Bun reads tsconfig.json only where it is started", async () => {
  const pages = files.filter(({ path }) => path.endsWith(".tsx"));
  expect(pages.length).toBeGreaterThan(3);
  for (const { path } of pages) {
    const text = await Bun.file(join(SOURCE, path)).text();
    expect(text).toStartWith("/** @jsxRuntime automatic @jsxImportSource #pages */\n");
  }
});

/** What differs per operating system, but for what an executable of each is made of. */
const OF_SYSTEMS =
  /process\.(platform|umask|getuid|geteuid|getgid)|["'`]\/proc\/|\bhomedir\b|\bdlopen\(/;

test("only system/ knows which operating system it runs on", () => {
  const found = filesWith(OF_SYSTEMS, [
    // Names the target of this machine.
    "native/targets.ts",
    // Load the embedded libraries.
    "native/addons.ts",
    "native/inference.ts",
    // The first thing of all.
    "main.ts",
    // Pass it on: each system keeps the files of clients elsewhere.
    "cli/commands/connect/list.ts",
    "cli/commands/connect/print-entry.ts",
    // Say who owns a file, which no system but Unix does.
    "connect/files.ts",
    "db/database-error.ts",
    "doctor/folders.ts",
  ]);
  expect(found.filter((path) => partOf(path) !== "system")).toEqual([]);
});

test("every error of ours has the one base, and a code by which it is told from others", () => {
  expect(filesWith(/\bextends (?:Range|Type|Syntax|Aggregate)?Error\b/, ["errors.ts"])).toEqual([]);
  const codes = files.flatMap(({ code }) =>
    [...code.matchAll(/readonly code = "([^"]+)"/g)].map(([, each]) => each),
  );
  expect(codes.length).toBeGreaterThan(10);
  expect(new Set(codes).size).toBe(codes.length);
});

test("only config.ts reads the environment, which main.ts hands on", () => {
  const found = filesWith(/process\s*\.\s*env|Bun\s*\.\s*env|import\.meta\.env/, [
    "main.ts",
    BUILD_SCRIPT,
  ]);
  expect(found).toEqual([]);
  const main = files.find(({ path }) => path === "main.ts");
  expect(main?.code.match(/process\.env/g)).toHaveLength(1);
});
