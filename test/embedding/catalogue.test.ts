import { expect, test } from "bun:test";
import { CATALOGUE, sizeOf } from "../../src/embedding/catalogue.ts";

test("every model of the catalogue is pinned to a revision and has all hashes", () => {
  for (const model of CATALOGUE) {
    expect(sizeOf(model)).toBeGreaterThan(30e6);
    if (model.fetched === null) continue;
    expect(model.fetched.address).toMatch(
      /^https:\/\/huggingface\.co\/[\w/.-]+\/resolve\/[0-9a-f]{40}$/,
    );
    for (const file of model.fetched.description.files) expect(file.sha256).toHaveLength(64);
  }
});
