import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  linkFile,
  moveFile,
  moveFileNow,
  syncFile,
  syncFileNow,
  syncFolder,
} from "../../src/system/files.ts";
import { temporaryFolder } from "../support/database.ts";
import { outcomeOf } from "../support/outcome.ts";

test("a moved file replaces an existing file with the new name", async () => {
  const folder = temporaryFolder();
  const [a, b, c] = ["a", "b", "c"].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(a, "new");
  writeFileSync(b, "old");
  await moveFile(a, b);
  expect([existsSync(a), readFileSync(b, "utf8")]).toEqual([false, "new"]);
  moveFileNow(b, c);
  expect([existsSync(b), readFileSync(c, "utf8")]).toEqual([false, "new"]);
});

test("a file that can't be moved fails at once with the reason", async () => {
  const folder = temporaryFolder();
  expect(await outcomeOf(moveFile(join(folder, "none"), join(folder, "b")))).toThrow("ENOENT");
  expect(() => moveFileNow(join(folder, "none"), join(folder, "b"))).toThrow("ENOENT");
});

test("a linked file has the content of the original", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a"), "content");
  await linkFile(join(folder, "a"), join(folder, "b"));
  expect(readFileSync(join(folder, "b"), "utf8")).toBe("content");
});

test("files and folders can be synced, a missing file fails", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "below"));
  writeFileSync(join(folder, "a"), "content");
  await syncFile(join(folder, "a"));
  syncFileNow(join(folder, "a"));
  await syncFolder(join(folder, "below"));
  expect(await outcomeOf(syncFile(join(folder, "none")))).toThrow("ENOENT");
});
