import { expect, test } from "bun:test";
import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createProgressFiles } from "../../src/capture/progress.ts";
import { temporaryFolder } from "../support/database.ts";

const PLACE = { offset: 7, at: 9, session: "s" };

test("progress belongs to one account and one transcript and survives a restart", async () => {
  const folder = join(temporaryFolder(), "captured");
  await createProgressFiles(folder).put("acc_1", "/a.jsonl", PLACE);
  const progress = createProgressFiles(folder);
  expect(await progress.find("acc_1", "/a.jsonl")).toEqual(PLACE);
  expect(await progress.find("acc_2", "/a.jsonl")).toBeNull();
  expect(await progress.find("acc_1", "/b.jsonl")).toBeNull();
  const [name = ""] = readdirSync(folder);
  // Only the owner can read the file, and its name does not reveal the transcript's path.
  expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(name).toMatch(/^[0-9a-f]{64}\.json$/);
});

test("damaged progress is ignored, and old progress is deleted", async () => {
  const folder = join(temporaryFolder(), "captured");
  const progress = createProgressFiles(folder);
  await progress.put("acc_1", "/a.jsonl", PLACE);
  const [name = ""] = readdirSync(folder);
  for (const text of ["", "{", '{"offset": -1}', "[]"]) {
    writeFileSync(join(folder, name), text);
    expect(await progress.find("acc_1", "/a.jsonl")).toBeNull();
  }
  const longAgo = new Date(0);
  utimesSync(join(folder, name), longAgo, longAgo);
  await createProgressFiles(folder).put("acc_1", "/b.jsonl", PLACE);
  expect(readdirSync(folder)).toHaveLength(1);
  expect(await progress.find("acc_1", "/b.jsonl")).toEqual(PLACE);
});
