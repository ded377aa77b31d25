import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmod, mkdir, mkdtemp, readdir, rm, stat, truncate, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Asset, prepareAsset } from "../../src/native/asset.ts";
import { outcomeOf } from "../support/outcome.ts";

const CONTENT: Record<string, string> = {
  "model.onnx": "a graph ".repeat(100_000),
  "config.json": '{"size":1}',
};
let cache: string;
let opened: string[];

beforeEach(async () => {
  cache = await mkdtemp(join(tmpdir(), "ctxd-cache-"));
  opened = [];
});
afterEach(() => rm(cache, { recursive: true, force: true }));

/** An asset that records which sources are opened. `served` may differ from the expected content. */
function asset(served = CONTENT): Asset {
  const files = Object.entries(CONTENT).map(([name, content]) => ({
    name,
    bytes: content.length,
    sha256: new Bun.CryptoHasher("sha256").update(content).digest("hex"),
    origin: `source/${name}`,
    async *open() {
      opened.push(name);
      const bytes = new TextEncoder().encode(served[name]);
      for (let from = 0; from < bytes.length; from += 65_536) {
        yield bytes.subarray(from, from + 65_536);
        await Bun.sleep(0);
      }
    },
  }));
  return { name: "model", files };
}

async function expectComplete(folder: string): Promise<void> {
  for (const [name, content] of Object.entries(CONTENT)) {
    expect(await Bun.file(join(folder, name)).text()).toBe(content);
  }
  expect((await readdir(folder)).toSorted()).toEqual(
    ["checked.json", ...Object.keys(CONTENT)].toSorted(),
  );
}

test("files are written once, into a folder that only the user can read", async () => {
  const folder = await prepareAsset(asset(), join(cache, "deep", "below"));
  await expectComplete(folder);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
  expect(await prepareAsset(asset(), join(cache, "deep", "below"))).toBe(folder);
  expect(opened).toEqual(["model.onnx", "config.json"]);
});

describe("a changed file is written again", () => {
  const damages: Record<string, (path: string) => Promise<unknown>> = {
    truncated: (path) => truncate(path, 1_000),
    emptied: (path) => truncate(path, 0),
    removed: (path) => rm(path),
    "changed to other content of the same size": (path) =>
      Bun.write(path, (CONTENT["model.onnx"] ?? "").replace("graph", "grape")),
    "changed, with its modification time set back": async (path) => {
      const { atime, mtime } = await stat(path);
      await Bun.write(path, (CONTENT["model.onnx"] ?? "").replace("graph", "grape"));
      await utimes(path, atime, mtime);
    },
  };
  for (const [name, damage] of Object.entries(damages)) {
    test(name, async () => {
      const folder = await prepareAsset(asset(), cache);
      await damage(join(folder, "model.onnx"));
      await prepareAsset(asset(), cache);
      await expectComplete(folder);
      expect(opened).toEqual(["model.onnx", "config.json", "model.onnx"]);
    });
  }
});

test("an unchanged file is not written again when only the stamp is damaged", async () => {
  const folder = await prepareAsset(asset(), cache);
  await Bun.write(join(folder, "checked.json"), '{"model.onnx"');
  await prepareAsset(asset(), cache);
  await expectComplete(folder);
  expect(opened).toEqual(["model.onnx", "config.json"]);
});

test("old temporary files are removed, young ones stay", async () => {
  const folder = await prepareAsset(asset(), cache);
  const old = join(folder, ".part-model.onnx-old");
  const young = join(folder, ".part-model.onnx-young");
  await Bun.write(old, "half");
  await Bun.write(young, "half");
  await utimes(old, new Date(0), new Date(0));
  await rm(join(folder, "config.json"));
  await prepareAsset(asset(), cache);
  expect(await Bun.file(old).exists()).toBe(false);
  expect(await Bun.file(young).exists()).toBe(true);
});

test("eight concurrent calls return the same complete folder", async () => {
  const folders = await Promise.all(Array.from({ length: 8 }, () => prepareAsset(asset(), cache)));
  expect(new Set(folders).size).toBe(1);
  await expectComplete(folders[0] ?? "");
});

describe("errors are explained in one sentence", () => {
  test("a source with unexpected content", async () => {
    const wrong = prepareAsset(asset({ ...CONTENT, "config.json": "{}" }), cache);
    expect(await outcomeOf(wrong)).toThrow(/^source\/config.json is not the expected file: .*\.$/);
    const [folder = ""] = await readdir(cache);
    expect(await readdir(join(cache, folder))).toEqual(["model.onnx"]);
  });

  test("a folder below a file", async () => {
    await Bun.write(join(cache, "file"), "");
    const failed = prepareAsset(asset(), join(cache, "file"));
    expect(await outcomeOf(failed)).toThrow(
      /^The cache folder .*file.* is below something that is not a folder: set CTXD_CACHE_DIR/,
    );
  });

  test("a folder that other users can write to", async () => {
    const folder = await prepareAsset(asset(), cache);
    await chmod(folder, 0o777);
    expect(await outcomeOf(prepareAsset(asset(), cache))).toThrow(
      /^The cache folder .* can be written by other users: .*CTXD_CACHE_DIR/,
    );
  });

  test("a source that fails halfway", async () => {
    const [file] = asset().files;
    if (!file) throw new Error("an asset has files");
    const broken = { name: "model", files: [{ ...file, open: () => breakingOff() }] };
    expect(await outcomeOf(prepareAsset(broken, cache))).toThrow(
      /^source\/model.onnx is missing or cannot be read\.$/,
    );
    const [folder = ""] = await readdir(cache);
    expect(await readdir(join(cache, folder))).toEqual([]);
  });

  test.skipIf(process.getuid?.() === 0)("a folder that can't be written", async () => {
    await mkdir(join(cache, "locked"), { mode: 0o500 });
    expect(await outcomeOf(prepareAsset(asset(), join(cache, "locked")))).toThrow(
      /^The cache folder .* cannot be written: set CTXD_CACHE_DIR/,
    );
  });
});

async function* breakingOff(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(10);
  throw new Error("broken off");
}
