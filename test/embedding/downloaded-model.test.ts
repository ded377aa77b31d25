import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { CATALOGUE } from "../../src/embedding/catalogue.ts";
import { fetchCatalogueModel } from "../../src/embedding/catalogue-download.ts";
import { openRecordedModel } from "../../src/embedding/chosen-model.ts";
import { describeModelFolder, type ModelDescription } from "../../src/embedding/model-folder.ts";
import { cosine } from "../support/cosine.ts";
import { temporaryFolder } from "../support/database.ts";
import { silentLog } from "../support/embedder.ts";
import { writeUnigramTokenizer } from "../support/unigram-tokenizer.ts";
import { writeWordModel } from "../support/word-model.ts";

test("a downloaded model is loaded without its source", async () => {
  const [stick, cacheDir] = [temporaryFolder(), temporaryFolder()];
  await writeWordModel(stick);
  const words = await describeModelFolder(stick);
  await fetchCatalogueModel({ address: "http://127.0.0.1:1", description: words }, cacheDir, {
    from: [stick],
  });
  rmSync(stick, { recursive: true });
  const model = { ...words, dimension: 48, cosines: { unrelated: 0.5, same: 1 } };
  const embedder = openRecordedModel(model, { cacheDir, log: silentLog });
  expect((await embedder.embedQuery("red apples")).vector).toHaveLength(48);
  await embedder.close();
});

test("a tokenizer like the multilingual model's is loaded, with prefixes", async () => {
  const [stick, cacheDir] = [temporaryFolder(), temporaryFolder()];
  await writeWordModel(stick);
  writeUnigramTokenizer(stick);
  const [graph, tokenizer] = (await describeModelFolder(stick)).files;
  const pinned = CATALOGUE.find(({ name }) => name === "multilingual-e5-small")?.fetched;
  if (!pinned || !graph || !tokenizer) throw new Error("there is no multilingual model");
  const description: ModelDescription = {
    ...pinned.description,
    files: [graph, tokenizer, ...pinned.description.files.slice(2)],
  };
  await fetchCatalogueModel({ address: "http://127.0.0.1:1", description }, cacheDir, {
    from: [stick],
  });
  const model = { ...description, dimension: 48, cosines: { unrelated: 0.5, same: 1 } };
  const embedder = openRecordedModel(model, { cacheDir, log: silentLog });
  try {
    const query = await embedder.embedQuery("备份密码在哪里");
    expect(query.vector).toHaveLength(48);
    const same = await embedder.embedContent("备份密码在哪里");
    const other = await embedder.embedContent("the cat");
    const alike = (content: typeof same) =>
      cosine(query.vector, content.vectors[0] ?? query.vector);
    expect(alike(same)).toBeGreaterThan(alike(other));
    // The prefixes of query and content differ.
    expect(alike(same)).toBeLessThan(0.9999);
    // A text without spaces, and one whose characters become four letters each.
    for (const text of ["的猫叫咪咪 ".repeat(300), "的猫叫咪咪".repeat(300), "㏂".repeat(160)]) {
      const long = await embedder.embedContent(text);
      expect(long.vectors.length).toBeGreaterThan(2);
      expect(long.starts).toHaveLength(long.vectors.length);
    }
  } finally {
    await embedder.close();
  }
});
