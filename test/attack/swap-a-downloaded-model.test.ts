import { expect, test } from "bun:test";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CATALOGUE } from "../../src/embedding/catalogue.ts";
import { fetchCatalogueModel } from "../../src/embedding/catalogue-download.ts";
import { prepareModel } from "../../src/embedding/manifest.ts";
import { describeModelFolder } from "../../src/embedding/model-folder.ts";
import { temporaryFolder } from "../support/database.ts";
import { outcomeOf } from "../support/outcome.ts";
import { writeWordModel } from "../support/word-model.ts";

/** A small model that was downloaded like one of the catalogue. */
async function downloaded() {
  const [stick, cacheDir] = [temporaryFolder(), temporaryFolder()];
  await writeWordModel(stick);
  const source = CATALOGUE.flatMap(({ fetched }) => fetched?.description.source ?? [])[0];
  if (!source) throw new Error("the catalogue has no model to download");
  const description = { ...(await describeModelFolder(stick)), source };
  const folder = await fetchCatalogueModel(
    { address: "http://127.0.0.1:1", description },
    cacheDir,
    { from: [stick] },
  );
  const manifest = { ...description, dimension: 48, cosines: { unrelated: 0.5, same: 1 } };
  return { folder, stick, load: () => prepareModel({ cacheDir, manifest }) };
}

const another = (path: string) => {
  const bytes = readFileSync(path);
  bytes[100] = (bytes[100] ?? 0) ^ 1;
  return bytes;
};

test.each<[string, (graph: string, stick: string) => void]>([
  ["by one of the same size", (graph) => writeFileSync(graph, another(graph))],
  ["by none", (graph) => rmSync(graph)],
  [
    "by a link to another one",
    (graph, stick) => {
      writeFileSync(join(stick, "other"), another(graph));
      rmSync(graph);
      symlinkSync(join(stick, "other"), graph);
    },
  ],
])(
  "a downloaded model whose graph is replaced in the cache, %s, is not loaded",
  async (_, swap) => {
    const { folder, stick, load } = await downloaded();
    expect(await load()).toBe(folder);
    swap(join(folder, "model.onnx"), stick);
    expect(await outcomeOf(load())).toThrow("model.onnx is missing or cannot be read");
  },
);
