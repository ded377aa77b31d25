import { beforeAll, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { openChosenModel } from "../../src/embedding/chosen-model.ts";
import { fastembedFolder, fetchFastembedModel } from "../../src/embedding/fastembed-download.ts";
import { temporaryFolder } from "../support/database.ts";
import { silentLog } from "../support/embedder.ts";
import { writeWordModel } from "../support/word-model.ts";

const NAME = "fast-all-MiniLM-L6-v2";
const PINNED = "fast-bge-small-en-v1.5";

let files: Record<string, Uint8Array>;
beforeAll(async () => {
  const folder = temporaryFolder();
  await writeWordModel(folder);
  files = {};
  for (const name of ["model.onnx", "tokenizer.json", "config.json"]) {
    files[name] = await Bun.file(join(folder, name)).bytes();
  }
});

/** An archive of the store, with additional files. */
async function archiveOf(name: string, more: Record<string, Uint8Array | string> = {}) {
  const entries = Object.entries({ ...files, ...more }).map(
    ([file, content]) => [`${name}/${file}`, content] as const,
  );
  return await new Bun.Archive(Object.fromEntries(entries), { compress: "gzip" }).bytes();
}

const sha256 = (bytes: Uint8Array) => new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

/** A store with one archive that can be replaced. */
function storeOf(first: Uint8Array) {
  let content = first;
  let asked = 0;
  const server = Bun.serve({
    port: 0,
    fetch() {
      asked++;
      return new Response(content);
    },
  });
  return {
    url: server.url.origin,
    asked: () => asked,
    swap: (other: Uint8Array) => {
      content = other;
    },
    [Symbol.dispose]: () => void server.stop(true),
  };
}

function machine() {
  const [cacheDir, dataDir] = [temporaryFolder(), temporaryFolder()];
  const fetchFrom = (
    store: string,
    name = NAME,
    models?: Parameters<typeof fetchFastembedModel>[2]["models"],
  ) =>
    fetchFastembedModel(name, cacheDir, {
      dataDir,
      store,
      onDownload: () => {},
      ...(models && { models }),
    });
  return { cacheDir, dataDir, fetchFrom };
}

test("a model that the store changes later is refused, and none of its files remain", async () => {
  const first = await archiveOf(NAME);
  using store = storeOf(first);
  const { cacheDir, dataDir, fetchFrom } = machine();
  const folder = await fetchFrom(store.url);
  expect(statSync(join(dataDir, "models.json")).mode & 0o777).toBe(0o600);
  rmSync(folder, { recursive: true });
  store.swap(await archiveOf(NAME, { "tokenizer.json": "{}" }));
  await expect(fetchFrom(store.url)).rejects.toThrow(
    /is not the model that was downloaded first \(its SHA-256 /,
  );
  expect(readdirSync(join(cacheDir, "fastembed"))).toEqual([]);
  // The first archive is still accepted.
  store.swap(first);
  await fetchFrom(store.url);
  // Removing the stored hash allows the new model.
  rmSync(folder, { recursive: true });
  store.swap(await archiveOf(NAME, { "ctxd.json": '{"pooling":"mean"}' }));
  rmSync(join(dataDir, "models.json"));
  await fetchFrom(store.url);
});

test("a changed model in the cache is refused at the next start", async () => {
  for (const change of [
    (folder: string) => writeFileSync(join(folder, "model.onnx"), "another graph"),
    (folder: string) => writeFileSync(join(folder, "model_quantized.onnx"), "a graph before it"),
    (folder: string) => writeFileSync(join(folder, "ctxd.json"), '{"pooling":"first token"}'),
    (folder: string) => rmSync(join(folder, "tokenizer.json")),
    (folder: string) => symlinkSync("/dev/zero", join(folder, "ctxd.json")),
  ]) {
    using store = storeOf(await archiveOf(NAME));
    const { cacheDir, dataDir, fetchFrom } = machine();
    const folder = await fetchFrom(store.url);
    expect(await fetchFrom(store.url)).toBe(folder);
    change(folder);
    const options = { model: NAME, cacheDir, dataDir, log: silentLog, store: store.url };
    await expect(openChosenModel(options)).rejects.toThrow(
      /not the one that was downloaded first|can't be read/,
    );
  }
});

test("a replaced model is refused, also after the cache was emptied", async () => {
  using store = storeOf(await archiveOf(NAME));
  const { cacheDir, fetchFrom } = machine();
  const folder = await fetchFrom(store.url);
  rmSync(cacheDir, { recursive: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  expect(await fetchFrom(store.url)).toBe(folder);
  writeFileSync(join(folder, "model.onnx"), "another graph");
  await expect(fetchFrom(store.url)).rejects.toThrow("model.onnx differs");
});

describe("a model with a known hash", () => {
  test("is accepted with this hash and refused with another, also the first time", async () => {
    const right = await archiveOf(PINNED);
    const models = { [PINNED]: { archive: PINNED, sha256: sha256(right) } };
    using store = storeOf(await archiveOf(PINNED, { "config.json": "{}" }));
    const { cacheDir, dataDir, fetchFrom } = machine();
    await expect(fetchFrom(store.url, PINNED, models)).rejects.toThrow(
      "is not the model that this program expects",
    );
    expect(existsSync(join(dataDir, "models.json"))).toBe(false);
    expect(existsSync(fastembedFolder(PINNED, cacheDir))).toBe(false);
    store.swap(right);
    await fetchFrom(store.url, PINNED, models);
  });

  test("includes the other form of the built-in model", async () => {
    using store = storeOf(await archiveOf(PINNED));
    const { fetchFrom } = machine();
    await expect(fetchFrom(store.url, PINNED)).rejects.toThrow("3858004b3822f64f");
  });
});

test("an incomplete archive is never accepted, and its hash is not stored", async () => {
  const whole = await archiveOf(NAME);
  for (const length of [0, 10, 1_000, Math.floor(whole.length / 2), whole.length - 1]) {
    using store = storeOf(whole.slice(0, length));
    const { cacheDir, dataDir, fetchFrom } = machine();
    await expect(fetchFrom(store.url)).rejects.toThrow("can't be downloaded");
    expect(existsSync(join(dataDir, "models.json"))).toBe(false);
    expect(readdirSync(join(cacheDir, "fastembed"))).toEqual([]);
  }
});

test("an archive writes nothing outside its folder", async () => {
  const archive = await new Bun.Archive(
    { [`${NAME}/model.onnx`]: "x", "../../outside": "x", "/tmp/ctxd-outside": "x" },
    { compress: "gzip" },
  ).bytes();
  using store = storeOf(archive);
  const { cacheDir, fetchFrom } = machine();
  await fetchFrom(store.url).catch(() => {});
  expect(existsSync(join(cacheDir, "outside"))).toBe(false);
  expect(existsSync("/tmp/ctxd-outside")).toBe(false);
  expect(existsSync(join(cacheDir, "fastembed", "outside"))).toBe(false);
});
