import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { removeStaleAssets } from "../../src/native/asset.ts";
import { temporaryFolder } from "../support/database.ts";

test("only versions of the asset that were unused for 30 days are removed", async () => {
  const cache = temporaryFolder();
  const ago = (days: number) => Date.now() / 1_000 - days * 86_400;
  const folders: [name: string, days: number][] = [
    ["model-0000000000000001", 31],
    ["model-0000000000000002", 29],
    ["model-0000000000000003", 400],
    ["lancedb-0000000000000004", 31],
    ["model-mine", 31],
    ["fastembed", 31],
  ];
  for (const [name, days] of folders) {
    mkdirSync(join(cache, name));
    utimesSync(join(cache, name), ago(days), ago(days));
  }
  // The folder in use stays, however old it is.
  await removeStaleAssets(join(cache, "model-0000000000000003"));
  const remaining = readdirSync(cache).sort();
  expect(remaining).toEqual(
    folders
      .map(([name]) => name)
      .filter((name) => !name.endsWith("1"))
      .sort(),
  );
  // Its use marked the third folder as used now, so it stays.
  await removeStaleAssets(join(cache, "model-0000000000000002"));
  expect(readdirSync(cache).sort()).toEqual(remaining);
});
