import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { catalogueModel } from "../../src/embedding/catalogue.ts";
import { fetchCatalogueModel } from "../../src/embedding/catalogue-download.ts";
import { type Asset, prepareAsset } from "../../src/native/asset.ts";
import { findForeignAncestor } from "../../src/system/foreign-ancestor.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { asNobody, noOtherUser } from "../support/other-user.ts";
import { outcomeOf } from "../support/outcome.ts";

const content = new TextEncoder().encode("a library");
const asset: Asset = {
  name: "library",
  files: [
    {
      name: "library.node",
      bytes: content.length,
      sha256: new Bun.CryptoHasher("sha256").update(content).digest("hex"),
      origin: "the test",
      async *open() {
        yield content;
      },
    },
  ],
};

/** A folder that the attacker can write to, and our cache below it. */
function sharedFolder(mode: number) {
  const shared = join(temporaryFolder(), "shared");
  const cache = join(shared, "ours", "cache");
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  chmodSync(shared, mode);
  return { shared, cache };
}

describe("a cache folder whose parent another user can replace", () => {
  test.each([0o777, 0o757])("is refused below a folder of mode %o", async (mode) => {
    const { shared, cache } = sharedFolder(mode);
    expect(await outcomeOf(prepareAsset(asset, cache))).toThrow(
      `The folder ${shared} above the cache folder ${cache}/library-`,
    );
    const model = catalogueModel("bge-base")?.fetched;
    if (!model) throw new Error("there is no bge-base");
    const unreachable = { ...model, address: "http://127.0.0.1:1" };
    expect(await outcomeOf(fetchCatalogueModel(unreachable, cache))).toThrow(shared);
    const { stdout } = await ctxd(["doctor"], {
      dataDir: join(shared, "data"),
      env: { CTXD_CACHE_DIR: cache, CTXD_PORT: "0" },
    });
    expect(stdout).toMatch(
      new RegExp(
        `^problem {2}cache folder: ${shared} can be written by other users, who would`,
        "m",
      ),
    );
  });

  test("is refused behind a link to such a folder", async () => {
    const { shared, cache } = sharedFolder(0o777);
    const link = join(temporaryFolder(), "link");
    symlinkSync(cache, link);
    expect(await outcomeOf(prepareAsset(asset, link))).toThrow(`The folder ${shared} above`);
  });

  test("is used at the checked path, not through another user's link", async () => {
    const cache = join(temporaryFolder(), "cache");
    mkdirSync(cache, { mode: 0o700 });
    const { shared } = sharedFolder(0o777);
    symlinkSync(cache, join(shared, "link"));
    const folder = await prepareAsset(asset, join(shared, "link"));
    expect(folder).toStartWith(`${cache}/`);
  });

  test.skipIf(noOtherUser !== null)(
    `is refused in a folder of that user${noOtherUser ? ` (${noOtherUser})` : ""}`,
    async () => {
      const { shared, cache } = sharedFolder(0o755);
      expect(asNobody(["true"]).exitCode).toBe(0);
      Bun.spawnSync(["chown", "nobody", shared]);
      expect(await prepareAsset(asset, cache).catch((error) => error.message)).toMatch(
        /^The folder \S+\/shared above the cache folder \S+ belongs to another user \(\d+\): set CTXD_CACHE_DIR/,
      );
    },
  );

  test.skipIf(noOtherUser !== null)(
    `is refused in a folder of a group of that user${noOtherUser ? ` (${noOtherUser})` : ""}`,
    async () => {
      const { shared, cache } = sharedFolder(0o775);
      Bun.spawnSync(["chgrp", "nogroup", shared]);
      expect(await outcomeOf(prepareAsset(asset, cache))).toThrow(
        /^The folder \S+\/shared above the cache folder \S+ can be written by other users \(group \d+\)/,
      );
    },
  );

  test.skipIf(noOtherUser !== null)(
    `is accepted in a folder with the sticky bit, such as /tmp${noOtherUser ? ` (${noOtherUser})` : ""}`,
    async () => {
      const { shared, cache } = sharedFolder(0o1777);
      chmodSync(join(shared, ".."), 0o755);
      expect((await prepareAsset(asset, shared)).startsWith(`${shared}/library-`)).toBe(true);
      const folder = await prepareAsset(asset, cache);
      expect(asNobody(["mv", join(shared, "ours"), join(shared, "gone")]).exitCode).not.toBe(0);
      expect(existsSync(join(folder, "library.node"))).toBe(true);
      // Without the sticky bit, it is refused.
      chmodSync(shared, 0o777);
      expect(asNobody(["mv", join(shared, "ours"), join(shared, "gone")]).exitCode).toBe(0);
      renameSync(join(shared, "gone"), join(shared, "ours"));
    },
  );
});

test("the doctor warns if another user can replace the data folder", async () => {
  const { shared } = sharedFolder(0o777);
  const dataDir = join(shared, "ours", "data");
  const added = await ctxd(["user", "add", "you@example.com"], {
    dataDir,
    input: "correct horse\n",
  });
  expect(added).toMatchObject({ exitCode: 0 });
  const { stdout } = await ctxd(["doctor"], { dataDir, env: { CTXD_PORT: "0" } });
  expect(stdout).toContain(
    `warning  data folder: ${shared} can be written by other users, who can replace`,
  );
});

test("a folder that does not exist is checked by the folders above it", () => {
  const { cache } = sharedFolder(0o1777);
  expect(findForeignAncestor(join(cache, "not", "yet"))).toBeNull();
  expect(findForeignAncestor(join(sharedFolder(0o777).shared, "not", "yet"))).not.toBeNull();
});
