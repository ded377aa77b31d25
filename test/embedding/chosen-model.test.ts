import { afterEach, describe, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  createEmbedders,
  openChosenModel,
  openRecordedModel,
} from "../../src/embedding/chosen-model.ts";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { describeModelFolder, modelUsage } from "../../src/embedding/model-folder.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { cosine } from "../support/cosine.ts";
import { temporaryFolder } from "../support/database.ts";
import { silentLog } from "../support/embedder.ts";
import { HASTY, openData } from "../support/live-data.ts";
import { outcomeOf } from "../support/outcome.ts";
import { ACCOUNT, best, untilDone } from "../support/reembedding-data.ts";
import { writeWordModel } from "../support/word-model.ts";

const open: Embedder[] = [];
afterEach(async () => {
  for (const embedder of open.splice(0)) await embedder.close();
});

async function choose(model: string, cacheDir = temporaryFolder()) {
  const embedder = await openChosenModel({ model, cacheDir, log: silentLog });
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

  test("searches what version 0.2 recorded under fastembed's name of the same model", async () => {
    const [folder, cacheDir, dataDir] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    await writeWordModel(folder);
    const chosen = await choose(folder, cacheDir);
    const former = {
      ...chosen.model,
      id: `fast-${chosen.model.id}`,
      source: { folder: join(cacheDir, "fastembed", "fast-words") },
    };
    {
      await using data = await openData(
        dataDir,
        HASTY,
        createEmbedders({ ...chosen, model: former }),
      );
      await data.memories.saveAll(wholeAccount(ACCOUNT), [
        { content: "red apples and pears" },
        { content: "a train to Lisbon" },
      ]);
    }
    const opened: string[] = [];
    const embedders = createEmbedders(chosen, (model) => {
      opened.push(model.id);
      const embedder = openRecordedModel(model, { cacheDir, log: silentLog });
      open.push(embedder);
      return embedder;
    });
    await using data = await openData(dataDir, HASTY, embedders);
    expect((await best(data, "pears"))?.content).toBe("red apples and pears");
    await untilDone(data, chosen.model);
    expect((await best(data, "pears"))?.content).toBe("red apples and pears");
    expect(opened).toEqual([former.id]);
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
    expect(await outcomeOf(choose(folder))).toThrow(`${folder} has no model`);
    await writeWordModel(folder);
    rmSync(join(folder, "ctxd.json"));
    expect(await outcomeOf(choose(folder))).toThrow(
      /says how vectors are computed: write {"pooling"/,
    );
    writeFileSync(join(folder, "ctxd.json"), '{"poling": "mean"}');
    expect(await outcomeOf(choose(folder))).toThrow(/ctxd.json is not valid/);
    await writeWordModel(folder);
    writeFileSync(join(folder, "model.onnx"), "no graph");
    expect(await outcomeOf(choose(folder))).toThrow(/^CTXD_MODEL: .* can't be used: /);
    rmSync(join(folder, "tokenizer.json"));
    expect(await outcomeOf(choose(folder))).toThrow(/tokenizer.json is missing/);
  });
});

test.each(["bge-huge", "fast-bge-base-en-v1.5"])("the name %s is refused", async (name) => {
  expect(await outcomeOf(choose(name))).toThrow(
    `CTXD_MODEL: ${name} is neither a folder nor a name of ctxd model list (bge-small, multilingual-e5-small, bge-base): copy the model's files to a folder and name that folder, or choose one of these names.`,
  );
});

test("the pooling and prefixes of a model follow from its name", () => {
  const means = ["all-MiniLM-L6-v2", "multilingual-e5-large", "nomic-embed-text-v1.5"];
  expect(means.map((name) => modelUsage(name)?.pooling)).toEqual(["mean", "mean", "mean"]);
  expect(modelUsage("intfloat/e5-small-v2")?.prefixes.content).toBe("passage: ");
  expect(modelUsage("bge-base-en-v1.5")?.pooling).toBe("first token");
  expect(modelUsage("my-own")).toBeNull();
});
