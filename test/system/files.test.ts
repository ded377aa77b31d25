import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { syncFile, syncFileNow, syncFolder } from "../../src/system/durability.ts";
import { linkFile, moveFile, moveFileNow } from "../../src/system/files.ts";
import { temporaryFolder } from "../support/database.ts";

test("a file that is moved replaces the one that has its new name", async () => {
  const folder = temporaryFolder();
  const [a, b, c] = ["a", "b", "c"].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(a, "new");
  writeFileSync(b, "old");
  await moveFile(a, b);
  expect([existsSync(a), readFileSync(b, "utf8")]).toEqual([false, "new"]);
  moveFileNow(b, c);
  expect([existsSync(b), readFileSync(c, "utf8")]).toEqual([false, "new"]);
});

test("what can't be moved says why, at once", async () => {
  const folder = temporaryFolder();
  await expect(moveFile(join(folder, "none"), join(folder, "b"))).rejects.toThrow("ENOENT");
  expect(() => moveFileNow(join(folder, "none"), join(folder, "b"))).toThrow("ENOENT");
});

test("a linked file reads as the one that it stands for", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a"), "content");
  await linkFile(join(folder, "a"), join(folder, "b"));
  expect(readFileSync(join(folder, "b"), "utf8")).toBe("content");
});

test("files and folders can be synced; a file that is not there can't", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "below"));
  writeFileSync(join(folder, "a"), "content");
  await syncFile(join(folder, "a"));
  syncFileNow(join(folder, "a"));
  await syncFolder(join(folder, "below"));
  await expect(syncFile(join(folder, "none"))).rejects.toThrow("ENOENT");
});
