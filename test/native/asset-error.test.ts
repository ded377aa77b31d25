import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openAddon } from "../../src/native/addons.ts";
import { explainFolderError, explainLoadError } from "../../src/native/asset-error.ts";

const TOKENIZERS = join(
  ...[import.meta.dir, "..", "..", "node_modules", "@anush008", "tokenizers-linux-x64-gnu"],
  "tokenizers.linux-x64-gnu.node",
);

test("a library on a noexec mount: the message names the reason, the folder and the setting", () => {
  const cause = new Error(
    "/cache/lancedb/lancedb.node: failed to map segment from shared object: Operation not permitted",
  );
  const { message } = explainLoadError(cause, "/cache/lancedb");
  expect(message).toBe(
    "The cache folder /cache/lancedb is mounted noexec, and native libraries are loaded from it: set CTXD_CACHE_DIR to another folder.",
  );
});

test("an unknown reason: the message quotes the system's error", () => {
  const { message } = explainLoadError(new Error("libm.so.6: not found"), "/cache/lancedb");
  expect(message).toContain("cannot load (libm.so.6: not found)");
});

test.skipIf(process.platform !== "linux" || process.arch !== "x64")(
  "a library needs a newer glibc than the system has",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "ctxd-glibc-"));
    try {
      const library = join(folder, "tokenizers.node");
      const content = await Bun.file(TOKENIZERS).bytes();
      const text = Buffer.from(content.buffer);
      for (let at = text.indexOf("GLIBC_2.14\0"); at >= 0; at = text.indexOf("GLIBC_2.14\0", at)) {
        text.write("GLIBC_9.99", at);
      }
      await Bun.write(library, text);
      expect(() => openAddon("newer", library)).toThrow(
        "ctxd needs glibc 9.99 or later, and this system's is older: run it on a newer one, or in a container.",
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);

test("the embedded C++ library needs a newer glibc than the system has", () => {
  const cause = new Error(
    "/lib/libc.so.6: version `GLIBC_2.36' not found (required by /cache/cxx-1/libstdc++.so.6)",
  );
  expect(explainLoadError(cause, "/cache/cxx-1").message).toMatch(
    /^This system has no C\+\+ library/,
  );
});

test("the message names the glibc that ctxd needs, not the lower version that is missing", () => {
  const cause = new Error(
    "/lib/libm.so.6: version `GLIBC_2.18' not found (required by /cache/a.node)",
  );
  expect(explainLoadError(cause, "/cache").message).toStartWith("ctxd needs glibc 2.28 or later");
});

test("Windows lacks the Visual C++ runtime", () => {
  const cause = new Error("The specified module could not be found.");
  expect(explainLoadError(cause, "C:\\cache").message).toContain("vc_redist.x64.exe");
});

test("a full disk", () => {
  const cause = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
  expect(explainFolderError(cause, "/cache").message).toBe(
    "The cache folder /cache has no space left: set CTXD_CACHE_DIR to another folder.",
  );
});

test("an AssetError is not explained again", () => {
  const first = explainFolderError(Object.assign(new Error("no"), { code: "EROFS" }), "/cache");
  expect(first.message).toBe(
    "The cache folder /cache is read-only: set CTXD_CACHE_DIR to another folder.",
  );
  expect(explainFolderError(first, "/other")).toBe(first);
});
