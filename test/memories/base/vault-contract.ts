import { describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { AppError } from "../../../src/errors.ts";
import { TornFile, type Vault } from "../../../src/memories/base/vault.ts";
import { temporaryFolder } from "../../support/database.ts";
import { outcomeOf, rejectionOf } from "../../support/outcome.ts";

/** Files of LanceDB, one of each format, with what they may hold. */
export const WHOLE: Readonly<Record<string, string>> = {
  "data/1.lance": "rows LANC",
  "_versions/1.manifest": "version LANC",
  "_indices/a/page.idx": "words LANC",
  "_deletions/1.arrow": "gone ARROW1",
  "_transactions/1.txn": "any",
};
const FILES = Object.keys(WHOLE);

/** Writes files of a base as LanceDB would. */
export function writeBase(folder: string, base: string, files = WHOLE): void {
  for (const [file, content] of Object.entries(files)) {
    const path = join(folder, `${base}.lance`, file);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }
}

/**
 * What every vault must do.
 * @param create makes one with a local folder, as a start of the program does
 */
export function describeVault(name: string, create: (folder: string) => Vault): void {
  const setUp = () => {
    const folder = join(temporaryFolder(), "memories");
    return { folder, vault: create(folder) };
  };

  describe(`${name}:`, () => {
    test("it has no base before there is one", async () => {
      const { vault } = setUp();
      expect(await vault.bases()).toEqual([]);
      expect(await vault.files("a")).toEqual([]);
      expect(await vault.bytes("a")).toBe(0);
      await vault.forget(["a"]);
    });

    test("it tells bases, their files and their bytes", async () => {
      const { folder, vault } = setUp();
      writeBase(folder, "a");
      writeBase(folder, "a.0123abcd", { "data/2.lance": "other LANC" });
      mkdirSync(join(folder, "something else"));
      expect((await vault.bases()).sort()).toEqual(["a", "a.0123abcd"]);
      expect((await vault.files("a")).sort()).toEqual([...FILES].sort());
      expect(await vault.bytes("a")).toBe(Object.values(WHOLE).join("").length);
      expect(await vault.bytes("a.0123abcd")).toBe(10);
    });

    test("neither the library's hint nor a file that is being written is one of a base", async () => {
      const { folder, vault } = setUp();
      writeBase(folder, "a", {
        "data/1.lance": "LANC",
        "data/2.lance#12": "LA",
        "_versions/latest_version_hint.json": "{}",
      });
      expect(await vault.files("a")).toEqual(["data/1.lance"]);
    });

    test("what was kept is there after a restore by another process, and nothing else is", async () => {
      const { folder, vault } = setUp();
      writeBase(folder, "a");
      await vault.keep("a", FILES);
      writeBase(folder, "a", {
        "data/2.lance": "never recorded LANC",
        "data/3.lance#4": "half",
        "_versions/2.manifest": "",
        "_versions/latest_version_hint.json": '{"version":2}',
      });
      const restarted = create(folder);
      await restarted.restore("a", FILES);
      expect((await restarted.files("a")).sort()).toEqual([...FILES].sort());
      expect(await restarted.bytes("a")).toBe(Object.values(WHOLE).join("").length);
    });

    test.each(FILES)("a torn %s is noticed before anything relies on it", async (file) => {
      const { folder, vault } = setUp();
      writeBase(folder, "a");
      writeBase(folder, "a", { [file]: file.endsWith(".txn") ? "" : "LANC, and no mark" });
      expect(await rejectionOf(vault.keep("a", FILES))).toBeInstanceOf(TornFile);
    });

    test("a file that is not there can't be kept", async () => {
      const { folder, vault } = setUp();
      writeBase(folder, "a");
      expect(await outcomeOf(vault.keep("a", [...FILES, "data/2.lance"]))).toThrow("data/2.lance");
    });

    test("files that come later are kept too", async () => {
      const { folder, vault } = setUp();
      writeBase(folder, "a");
      await vault.keep("a", FILES);
      writeBase(folder, "a", { "data/2.lance": "torn" });
      const all = [...FILES, "data/2.lance"];
      expect(await rejectionOf(vault.keep("a", all))).toBeInstanceOf(TornFile);
      writeBase(folder, "a", { "data/2.lance": "whole LANC" });
      await vault.keep("a", all);
      const restarted = create(folder);
      await restarted.restore("a", all);
      expect((await restarted.files("a")).sort()).toEqual([...all].sort());
    });

    test("a base that lacks a file is not restored, and loses nothing by that", async () => {
      const { folder, vault } = setUp();
      writeBase(folder, "a");
      await vault.keep("a", FILES);
      const missing = create(folder).restore("a", ["data/1.lance", "data/lost.lance"]);
      const error = await missing.catch((error: unknown) => error);
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({
        code: "unavailable",
        message: "This account's memories are damaged: restore a backup.",
      });
      expect(String((error as AppError).cause)).toContain("data/lost.lance");
      expect((await vault.files("a")).sort()).toEqual([...FILES].sort());
    });

    test("forgotten bases are gone, and a new one of that name is kept anew", async () => {
      const { folder, vault } = setUp();
      for (const base of ["a", "b", "c"]) {
        writeBase(folder, base);
        await vault.keep(base, FILES);
      }
      await vault.forget(["a", "b"]);
      expect(await vault.bases()).toEqual(["c"]);
      expect(await outcomeOf(vault.keep("a", FILES))).toThrow();
      writeBase(folder, "a", { "data/1.lance": "torn" });
      expect(await rejectionOf(vault.keep("a", ["data/1.lance"]))).toBeInstanceOf(TornFile);
      const damaged = create(folder).restore("b", FILES);
      expect(await rejectionOf(damaged)).toMatchObject({ code: "unavailable" });
    });
  });
}
