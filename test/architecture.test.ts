import { describe, expect, test } from "bun:test";
import {
  circlesOf,
  forbiddenImports,
  type Import,
  partOf,
  readImports,
  sourceFiles,
} from "./support/source-files.ts";

/** The parts of src. Each may import from itself and from those that come after it. */
const ORDER = [
  "build",
  "main.ts",
  "cli",
  "server",
  "app.ts",
  "local",
  "mcp",
  "dashboard",
  "doctor",
  "upgrade",
  "backup",
  "connect",
  "capture",
  "import",
  "uses",
  "activity",
  "tidy",
  "undo",
  "spaces",
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
  "text",
  "metrics.ts",
  "prom-client.d.ts",
  "log.ts",
  "config",
  "system",
  "timing",
  "errors.ts",
];

/** The rooms of src/memories, in the same order. The files beside them may import from all. */
const ROOMS = [
  "http",
  "rules",
  "cluster",
  "background",
  "store",
  "upkeep",
  "table",
  "view",
  "base",
  "log",
  "ranking",
  "matched",
  "map",
  "model",
  "indexes",
];

const isOurs = ({ target }: Import) => ORDER.includes(partOf(target));

test("the files of src are read, with their imports and the kinds of these", () => {
  expect(sourceFiles.length).toBeGreaterThan(50);
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
  const routes = sourceFiles.find(({ path }) => path === "memories/http/writing-routes.ts");
  expect(routes?.imports.map(({ target }) => target)).toContain("memories/rules/memories.ts");
});

test("every folder and file at the top of src has a place in the order", () => {
  const parts = new Set(sourceFiles.map(({ path }) => partOf(path)));
  expect([...parts].filter((part) => !ORDER.includes(part))).toEqual([]);
});

test("no file imports from a part that comes earlier in the order", () => {
  const found = forbiddenImports(
    ({ path }, imported) =>
      isOurs(imported) && ORDER.indexOf(partOf(imported.target)) < ORDER.indexOf(partOf(path)),
  );
  expect(found).toEqual([]);
});

test("no file of memories imports from a room that comes earlier in the order", () => {
  const roomOf = (path: string) => path.split("/")[1] ?? "";
  const rooms = sourceFiles.map(({ path }) => path).filter((path) => /^memories\/.*\//.test(path));
  expect([...new Set(rooms.map(roomOf))].sort()).toEqual([...ROOMS].sort());
  const found = forbiddenImports(
    ({ path }, { target }) =>
      rooms.includes(path) &&
      partOf(target) === "memories" &&
      ROOMS.indexOf(roomOf(target)) < ROOMS.indexOf(roomOf(path)),
  );
  expect(found).toEqual([]);
});

test("no files import each other in a circle, not even their types", () => {
  const targets = new Map(
    sourceFiles.map(({ path, imports }) => [path, imports.map(({ target }) => target)]),
  );
  expect(circlesOf(targets)).toEqual([]);
});

test("a circle of imports is found, of one file, of two and of more", () => {
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

test("the server imports nothing of its clients", () => {
  expect(forbiddenImports((_, { target }) => partOf(target) === "clients")).toEqual([]);
});

test("main.ts imports the command line only, and no file imports main.ts", () => {
  const main = sourceFiles.find(({ path }) => path === "main.ts");
  expect(main?.imports.map(({ target }) => partOf(target))).toEqual(["cli"]);
  expect(forbiddenImports((_, { target }) => target === "main.ts")).toEqual([]);
});

test("only program.ts loads the modules of commands, and no command imports program.ts", () => {
  const found = forbiddenImports(({ path }, { target }) => {
    const isCommand = path.startsWith("cli/commands/");
    if (target === "cli/program.ts") return isCommand;
    return target.startsWith("cli/commands/") && path !== "cli/program.ts" && !isCommand;
  });
  expect(found).toEqual([]);
});

test("no domain imports the database tables of another", () => {
  const found = forbiddenImports(
    ({ path }, { target }) =>
      /\/(database-)?tables\.ts$/.test(target) && partOf(target) !== partOf(path),
  );
  expect(found).toEqual([]);
});

test("only routes know HTTP, not the services that they call", () => {
  const found = forbiddenImports(
    ({ path }, { target }) =>
      /^(memories|keys|accounts|oauth|sign-in|security-log|activity)\//.test(path) &&
      !/\/([\w-]+-)?routes\.tsx?$/.test(path) &&
      (target === "elysia" || partOf(target) === "http" || partOf(target) === "app.ts"),
  );
  expect(found).toEqual([]);
});

test("HTTP, MCP and the dashboard reach memories through the service only", () => {
  const found = forbiddenImports(
    ({ path }, { target }) =>
      (/^(http|mcp|dashboard)\//.test(path) || /\/([\w-]+-)?routes\.tsx?$/.test(path)) &&
      /^memories\/((cluster|background|store|upkeep|table|view|base|log)\/|[\w-]+\.ts$)/.test(
        target,
      ),
  );
  expect(found).toEqual([]);
});

describe("each library is imported in one place:", () => {
  test("LanceDB is loaded in native/ and used in memories/base/; backup/ only passes it on", () => {
    const found = forbiddenImports(
      ({ path }, { target, isTypeOnly }) =>
        target === "@lancedb/lancedb" &&
        !path.startsWith("native/") &&
        !path.startsWith("memories/base/") &&
        !(isTypeOnly && path.startsWith("backup/")),
    );
    expect(found).toEqual([]);
  });

  test("only the storage imports the implementation of bases", () => {
    const found = forbiddenImports(
      ({ path }, { target, isTypeOnly }) =>
        !isTypeOnly &&
        /^memories\/base\/(bases|lance-base|lance-search|memory-codec|decode|schema)\.ts$/.test(
          target,
        ) &&
        !/^memories\/(table\/storage\.ts$|base\/)/.test(path),
    );
    expect(found).toEqual([]);
  });

  test.each([
    ["fastembed", /^(fastembed|@anush008\/.*|onnxruntime-node)$/, /^embedding\//],
    ["Arrow", /^apache-arrow$/, /^memories\/base\//],
    [
      "Elysia",
      /^(elysia|@elysiajs\/.*)$/,
      /^(app\.ts|http\/|[\w-]+\/([\w-]+\/)?([\w-]+-)?routes\.tsx?$)/,
    ],
    [
      "Drizzle",
      /^drizzle-orm/,
      /^(undo|db|accounts|keys|oauth|sign-in|memories|security-log|activity|uses)\//,
    ],
    [
      "the library of OAuth clients",
      /^oauth4webapi$/,
      /^sign-in\/providers\/(provider|openid)\.ts$/,
    ],
    ["the library of passkeys", /^@simplewebauthn\//, /^sign-in\/passkeys\/webauthn\.ts$/],
    ["the library of QR codes", /^qr$/, /^dashboard\/account\/qr-code\.tsx$/],
    ["the library of differences", /^diff$/, /^dashboard\/memory\/memory-history\.tsx$/],
    ["the library of Amazon's signatures", /^aws4fetch$/, /^objects\//],
    ["the JSX library", /^@kitajs\//, /^pages\//],
    ["the Prometheus library", /^prom-client\b/, /^(metrics|prom-client\.d)\.ts$/],
    ["Commander", /^commander$/, /^cli\//],
    ["the MCP library", /^@modelcontextprotocol\//, /^(mcp|cli)\//],
  ])("%s is imported in its own folder only", (_, library, allowed) => {
    expect(
      forbiddenImports(({ path }, { target }) => library.test(target) && !allowed.test(path)),
    ).toEqual([]);
  });
});
