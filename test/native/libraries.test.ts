import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { findLibraries } from "../../src/native/libraries.ts";

test("the libraries of this platform are there", () => {
  const { lancedb, inference } = findLibraries();
  expect(lancedb.map(({ name }) => name)).toEqual(["lancedb.node"]);
  expect(inference.map(({ name }) => name)).toContain("onnxruntime.node");
  for (const { path } of [...lancedb, ...inference]) expect(existsSync(path)).toBe(true);
});

test("a platform whose packages are not installed here is refused, not built without them", () => {
  const other = process.platform === "darwin" ? "linux-x64" : "darwin-arm64";
  expect(() => findLibraries(other)).toThrow(
    /^@lancedb\/lancedb-.* is not installed, and the executable cannot be built without it: run bun install/,
  );
});

test("a platform without libraries is named, with those that have some", () => {
  expect(() => findLibraries("sunos-sparc")).toThrow(
    "ctxd cannot be built for sunos-sparc, only for linux-x64, linux-arm64, darwin-arm64.",
  );
});
