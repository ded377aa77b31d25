import { afterEach, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openChosenModel, openRecordedModel } from "../../src/embedding/chosen-model.ts";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { modelUsage } from "../../src/embedding/model-families.ts";
import { describeModelFolder } from "../../src/embedding/model-folder.ts";
import { cosine } from "../support/cosine.ts";
import { temporaryFolder } from "../support/database.ts";
import { silentLog } from "../support/embedder.ts";
import { writeWordModel } from "../support/word-model.ts";

const open: Embedder[] = [];
afterEach(async () => {
  for (const embedder of open.splice(0)) await embedder.close();
});

/** The address of a store that does not answer. */
const NOWHERE = "http://127.0.0.1:1";

async function choose(model: string, cacheDir = temporaryFolder(), store = NOWHERE) {
  const dataDir = temporaryFolder();
  const embedder = await openChosenModel({ model, cacheDir, dataDir, log: silentLog, store });
  open.push(embedder);
  return embedder;
}

describe("a model in a folder", () => {
  test("is measured and embeds texts", async () => {
    const folder = temporaryFolder();
    await writeWordModel(folder, 48);
    const embedder = await choose(folder);
    expect(embedder.model).toMatchObject({ dimension: 48, cosines: { same: 1 } });
    expect(embedder.model.id).toMatch(/^words-[0-9a-f]{8}$/);
    expect(embedder.model.cosines.unrelated).toBeWithin(0.05, 0.9);
    const vectorOf = async (text: string) => (await embedder.embedQuery(text)).vector;
    const [apples, same, trains] = await Promise.all([
      vectorOf("red apples and pears"),
      vectorOf("pears and red apples"),
      vectorOf("a train to Lisbon"),
    ]);
    // With the mean of the tokens their order does not matter.
    expect(cosine(apples, same)).toBeCloseTo(1, 5);
    expect(cosine(apples, trains)).toBeLessThan(0.9);
    const { vectors } = await embedder.embedContent("word ".repeat(600));
    expect(vectors.length).toBeGreaterThan(1);
  });

  test("is opened by a table's record, even after its folder was removed", async () => {
    const [folder, cacheDir] = [temporaryFolder(), temporaryFolder()];
    await writeWordModel(folder);
    const chosen = await choose(folder, cacheDir);
    const recorded = JSON.parse(JSON.stringify(chosen.model));
    const vector = await chosen.embedQuery("pears");
    rmSync(folder, { recursive: true });
    const again = openRecordedModel(recorded, { cacheDir, log: silentLog });
    open.push(again);
    expect(await again.embedQuery("pears")).toEqual(vector);
  });

  test("has another id with other pooling or prefixes", async () => {
    const folder = temporaryFolder();
    await writeWordModel(folder, 48, "mean");
    const mean = await describeModelFolder(folder);
    writeFileSync(join(folder, "ctxd.json"), JSON.stringify({ pooling: "first token" }));
    const first = await describeModelFolder(folder);
    writeFileSync(
      join(folder, "ctxd.json"),
      JSON.stringify({ pooling: "mean", query_prefix: "query: " }),
    );
    const prefixed = await describeModelFolder(folder);
    expect(new Set([mean.id, first.id, prefixed.id]).size).toBe(3);
    expect(prefixed.prefixes).toEqual({ query: "query: ", content: "" });
  });

  test("has no token states without a projection, and the understood share ignores its prefix", async () => {
    const folder = temporaryFolder();
    await writeWordModel(folder);
    const prefixes = { query_prefix: "search query: ", content_prefix: "document: " };
    writeFileSync(join(folder, "ctxd.json"), JSON.stringify({ pooling: "mean", ...prefixes }));
    const embedder = await choose(folder);
    expect(await embedder.embedQuery("过敏")).toMatchObject({
      states: { numbers: new Int8Array(0), words: [] },
      understood: 0,
    });
    expect((await embedder.embedContent("red pears")).states).toEqual(new Int8Array(0));
  });

  test("is refused in one sentence when it is incomplete", async () => {
    const folder = temporaryFolder();
    await expect(choose(folder)).rejects.toThrow(`${folder} has no model`);
    await writeWordModel(folder);
    rmSync(join(folder, "ctxd.json"));
    await expect(choose(folder)).rejects.toThrow(/says how vectors are computed: write {"pooling"/);
    writeFileSync(join(folder, "ctxd.json"), '{"poling": "mean"}');
    await expect(choose(folder)).rejects.toThrow(/ctxd.json is not valid/);
    await writeWordModel(folder);
    writeFileSync(join(folder, "model.onnx"), "no graph");
    await expect(choose(folder)).rejects.toThrow(/^CTXD_MODEL: .* can't be used: /);
    rmSync(join(folder, "tokenizer.json"));
    await expect(choose(folder)).rejects.toThrow(/tokenizer.json is missing/);
  });
});

describe("a model by its name", () => {
  test("is refused when fastembed does not have it", async () => {
    await expect(choose("bge-huge")).rejects.toThrow(
      /bge-huge is neither a folder nor one of bge-small, .* nor a model of fastembed \(fast-all-MiniLM/,
    );
  });

  test("is refused when the download fails, and no partial file stays", async () => {
    const cacheDir = temporaryFolder();
    await expect(choose("fast-bge-small-en", cacheDir)).rejects.toThrow(/can't be downloaded from/);
    using broken = Bun.serve({ port: 0, fetch: () => new Response("no", { status: 403 }) });
    const store = broken.url.origin;
    await expect(choose("fast-bge-small-en", cacheDir, store)).rejects.toThrow(/the answer is 403/);
    using torn = Bun.serve({ port: 0, fetch: () => new Response("half of an archive") });
    await expect(choose("fast-bge-small-en", cacheDir, torn.url.origin)).rejects.toThrow(
      /can't be downloaded/,
    );
    expect([...new Bun.Glob("**/*").scanSync({ cwd: cacheDir, dot: true })]).toEqual([]);
  });

  test("is downloaded once", async () => {
    const [files, cacheDir] = [temporaryFolder(), temporaryFolder()];
    await writeWordModel(files);
    const name = "fast-all-MiniLM-L6-v2";
    const entries = await Promise.all(
      ["model.onnx", "tokenizer.json", "config.json"].map(
        async (file) => [`${name}/${file}`, await Bun.file(join(files, file)).bytes()] as const,
      ),
    );
    const archive = new Bun.Archive(Object.fromEntries(entries), { compress: "gzip" });
    const asked: string[] = [];
    using server = Bun.serve({
      port: 0,
      async fetch(request) {
        asked.push(new URL(request.url).pathname);
        return new Response(await archive.blob());
      },
    });
    for (let start = 0; start < 2; start++) {
      const { model } = await choose(name, cacheDir, server.url.origin);
      expect(model.id).toStartWith(`${name}-`);
    }
    expect(asked).toEqual(["/sentence-transformers-all-MiniLM-L6-v2.tar.gz"]);
  });
});

test("the pooling and prefixes of a model follow from its name", () => {
  const means = ["all-MiniLM-L6-v2", "fast-multilingual-e5-large", "nomic-embed-text-v1.5"];
  expect(means.map((name) => modelUsage(name)?.pooling)).toEqual(["mean", "mean", "mean"]);
  expect(modelUsage("intfloat/e5-small-v2")?.prefixes.content).toBe("passage: ");
  expect(modelUsage("fast-bge-base-en-v1.5")?.pooling).toBe("first token");
  expect(modelUsage("my-own")).toBeNull();
});
