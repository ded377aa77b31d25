import { expect, test } from "bun:test";
import { existsSync, mkdirSync, realpathSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { NEW_SOCKET, reachSocketFolder, SOCKET } from "../../src/system/folders.ts";
import { temporaryFolder } from "../support/database.ts";

test("a folder with a short path is used directly", () => {
  const folder = temporaryFolder();
  const reach = reachSocketFolder(folder);
  expect(reach.path).toBe(folder);
  reach.release();
  expect(existsSync(folder)).toBe(true);
});

test.each(["deep".repeat(30), "тиха".repeat(15)])(
  "a folder with a long path is reached through a private short link: %s",
  (name) => {
    const folder = join(temporaryFolder(), name);
    mkdirSync(folder);
    const reach = reachSocketFolder(folder);
    expect(Buffer.byteLength(join(reach.path, `${NEW_SOCKET}XXXXXX`, SOCKET))).toBeLessThan(104);
    expect(realpathSync(reach.path)).toBe(realpathSync(folder));
    expect(statSync(dirname(reach.path)).mode & 0o777).toBe(0o700);
    reach.release();
    expect(existsSync(dirname(reach.path))).toBe(false);
    expect(existsSync(folder)).toBe(true);
  },
);
