import { expect, test } from "bun:test";
import { mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { removeStaleAssets } from "../../src/native/stale-assets.ts";
import { temporaryFolder } from "../support/database.ts";

test("versions that nobody has used for long go, and nothing else", async () => {
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
  // This one is old and in use.
  await removeStaleAssets(join(cache, "model-0000000000000003"));
  const left = readdirSync(cache).sort();
  expect(left).toEqual(
    folders
      .map(([name]) => name)
      .filter((name) => !name.endsWith("1"))
      .sort(),
  );
  // Being used keeps it from the next one.
  await removeStaleAssets(join(cache, "model-0000000000000002"));
  expect(readdirSync(cache).sort()).toEqual(left);
});
