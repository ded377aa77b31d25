import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { findLibraries } from "../../src/build/libraries.ts";
import { ownTargetName, targetNamed } from "../../src/native/targets.ts";

const MODULES = join(import.meta.dir, "..", "..", "node_modules");

test("the libraries of this system are found", () => {
  const { lancedb, inference } = findLibraries(targetNamed(ownTargetName()), MODULES);
  expect(lancedb.map(({ name }) => name)).toEqual(["lancedb.node"]);
  expect(inference.map(({ name }) => name)).toContain("onnxruntime.node");
  for (const { path } of [...lancedb, ...inference]) expect(existsSync(path)).toBe(true);
});

test("a target whose packages are not installed is refused", () => {
  expect(() => findLibraries("windows-x64", MODULES)).toThrow(
    /lancedb-win32-x64-msvc.* is not installed, and the executable can't be built without it\.$/,
  );
});

test("an unknown target is refused with the names of all targets", () => {
  expect(() => targetNamed("darwin-x64")).toThrow(
    "ctxd can't be built for darwin-x64, only for linux-x64, linux-arm64, darwin-arm64, windows-x64.",
  );
});
