import { expect, test } from "bun:test";
import { explainFolderError, explainLoadError } from "../../src/native/asset-error.ts";

test("a library on a noexec mount: the sentence names the reason, the folder and the setting", () => {
  const cause = new Error(
    "/cache/lancedb/lancedb.node: failed to map segment from shared object: Operation not permitted",
  );
  const { message } = explainLoadError(cause, "/cache/lancedb");
  expect(message).toBe(
    "The cache folder /cache/lancedb is mounted noexec, and native libraries are loaded from it: set CTXD_CACHE_DIR to another folder.",
  );
});

test("a library that the system lacks something for keeps the system's own words", () => {
  const { message } = explainLoadError(new Error("libm.so.6: not found"), "/cache/lancedb");
  expect(message).toContain("cannot load (libm.so.6: not found)");
});

test("a full disk", () => {
  const cause = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  expect(explainFolderError(cause, "/cache").message).toBe(
    "The cache folder /cache has no space left: set CTXD_CACHE_DIR to another folder.",
  );
});

test("an error is explained once", () => {
  const first = explainFolderError(Object.assign(new Error("no"), { code: "EROFS" }), "/cache");
  expect(first.message).toBe(
    "The cache folder /cache is read-only: set CTXD_CACHE_DIR to another folder.",
  );
  expect(explainFolderError(first, "/other")).toBe(first);
});
