import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkExecutable } from "../../src/build/check-executable.ts";
import { compressFile } from "../../src/build/compress.ts";
import { hasAdHocSignature, neededGlibc, systemOf } from "../../src/build/executable-format.ts";
import type { EmbeddedFile } from "../../src/native/embedded.ts";
import { isNewerGlibc } from "../../src/native/targets.ts";
import { machExecutable, peExecutable } from "../support/foreign-executables.ts";
import { outcomeOf } from "../support/outcome.ts";

const isLinux = process.platform === "linux" && process.arch === "x64";
const LIBRARY = join(
  ...[import.meta.dir, "..", "..", "node_modules", "@anush008", "tokenizers-linux-x64-gnu"],
  "tokenizers.linux-x64-gnu.node",
);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "ctxd-check-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("systemOf reads the system and processor from the header", () => {
  test("Mach-O and PE files for both processors", () => {
    expect(systemOf(machExecutable("arm64"))).toEqual({ os: "darwin", cpu: "arm64" });
    expect(systemOf(machExecutable("x64"))).toEqual({ os: "darwin", cpu: "x64" });
    expect(systemOf(peExecutable("x64"))).toEqual({ os: "win32", cpu: "x64" });
    expect(systemOf(peExecutable("arm64"))).toEqual({ os: "win32", cpu: "arm64" });
  });

  test.skipIf(!isLinux)("an ELF file of this machine", async () => {
    const content = await Bun.file(process.execPath).bytes();
    expect(systemOf(content)).toEqual({ os: "linux", cpu: "x64" });
    content[18] = 0xb7;
    expect(systemOf(content)).toEqual({ os: "linux", cpu: "arm64" });
  });

  test("other files, and a program with a window, are no executables", () => {
    expect(systemOf(new Uint8Array(10))).toBeNull();
    expect(systemOf(new TextEncoder().encode("#!/bin/sh\n".repeat(10)))).toBeNull();
    const windowed = peExecutable("x64");
    windowed[64 + 24 + 68] = 2;
    expect(systemOf(windowed)).toBeNull();
  });
});

describe("the ad-hoc signature of a Mach-O file", () => {
  test("matches an unchanged file", () => {
    expect(hasAdHocSignature(machExecutable("arm64"))).toBe(true);
  });

  test("does not match when a byte of any page or command has changed", () => {
    const signed = machExecutable("arm64").byteLength;
    for (const at of [40, 5_000, 9_999]) {
      const content = machExecutable("arm64");
      expect(at).toBeLessThan(signed);
      content[at] = (content[at] ?? 0) ^ 1;
      expect(hasAdHocSignature(content)).toBe(false);
    }
  });

  test("does not match when the load command of the signature is missing", () => {
    const content = machExecutable("arm64");
    new DataView(content.buffer).setUint32(32, 0x1, true);
    expect(hasAdHocSignature(content)).toBe(false);
  });
});

describe("the glibc version that a file needs", () => {
  test.skipIf(!isLinux)("is the newest of its versions, not the last one", async () => {
    expect(neededGlibc(await Bun.file(LIBRARY).bytes())).toBe("2.14");
    expect(neededGlibc(await Bun.file(process.execPath).bytes())).toBe("2.17");
  });

  test("versions are compared by their numbers", () => {
    expect(isNewerGlibc("2.28", "2.9")).toBe(true);
    expect(isNewerGlibc("2.28", "2.28")).toBe(false);
    expect(isNewerGlibc("2.4", "2.17")).toBe(false);
    expect(isNewerGlibc("2.28.1", "2.28")).toBe(true);
  });
});

describe.skipIf(!isLinux)("checkExecutable", () => {
  /** Bun itself, with a compressed file at its end. */
  async function built(change: (content: Uint8Array) => void = () => {}) {
    const text = new TextEncoder().encode("a library ".repeat(10_000));
    const file = await compressFile({ name: "lancedb.node", content: text }, folder, {
      isQuick: true,
      strip: null,
    });
    const carried = await Bun.file(file.path).bytes();
    change(carried);
    const path = join(folder, "ctxd");
    copyFileSync(process.execPath, path);
    await Bun.write(path, Buffer.concat([await Bun.file(path).bytes(), carried]));
    return { path, files: [file] as EmbeddedFile[] };
  }

  test("accepts a correct executable", async () => {
    const { path, files } = await built();
    await checkExecutable(path, "linux-x64", files);
  });

  test("refuses an executable of another system", async () => {
    const { path, files } = await built();
    expect(await outcomeOf(checkExecutable(path, "linux-arm64", files))).toThrow(
      `${path} is for linux-x64, not for linux-arm64`,
    );
  });

  test("refuses an embedded file that is damaged or missing", async () => {
    const damaged = await built((content) => content.fill(0, 10, 20));
    expect(await outcomeOf(checkExecutable(damaged.path, "linux-x64", damaged.files))).toThrow(
      `${damaged.path} does not contain the expected lancedb.node`,
    );
    expect(await outcomeOf(checkExecutable(process.execPath, "linux-x64", damaged.files))).toThrow(
      "does not contain the expected lancedb.node",
    );
  });

  test("refuses an embedded file that unpacks to other content", async () => {
    const { path, files } = await built();
    const [file] = files;
    if (!file) throw new Error("there is one");
    const other = [{ ...file, sha256: "0".repeat(64) }];
    expect(await outcomeOf(checkExecutable(path, "linux-x64", other))).toThrow("lancedb.node");
  });
});
