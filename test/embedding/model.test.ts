import { afterEach, beforeEach, expect, test } from "bun:test";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { builtInModel, prepareModel } from "../../src/embedding/manifest.ts";
import { outcomeOf } from "../support/outcome.ts";

const { source } = builtInModel;
const original = join(
  dirname(Bun.resolveSync(source.package ?? "", import.meta.dir)),
  source.folder,
);
let temporary: string;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), "ctxd-model-"));
});
afterEach(() => rm(temporary, { recursive: true }));

test("every file of the manifest has its size and hash", async () => {
  const folder = await prepareModel({ cacheDir: temporary });
  for (const { name, bytes, sha256 } of builtInModel.files) {
    const content = await Bun.file(join(folder, name)).bytes();
    expect(content.length).toBe(bytes);
    expect(new Bun.CryptoHasher("sha256").update(content).digest("hex")).toBe(sha256);
  }
});

test("a folder with the same files can replace the package", async () => {
  const model = join(temporary, "source");
  await cp(original, model, { recursive: true });
  const folder = await prepareModel({ cacheDir: join(temporary, "a"), source: model });
  expect(await Bun.file(join(folder, "config.json")).exists()).toBe(true);

  await Bun.write(join(model, "tokenizer.json"), "{}");
  expect(await outcomeOf(prepareModel({ cacheDir: join(temporary, "b"), source: model }))).toThrow(
    /^.*source\/tokenizer.json is not the expected file: its SHA-256 is .*\.$/,
  );
});

test("a missing source is named", async () => {
  const model = join(temporary, "nowhere");
  expect(await outcomeOf(prepareModel({ cacheDir: temporary, source: model }))).toThrow(
    `${join(model, "onnx/model_quantized.onnx")} is missing`,
  );
});
