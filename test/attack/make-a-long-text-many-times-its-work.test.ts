import { expect, test } from "bun:test";
import { convert } from "../../src/import/convert-memory.ts";

/** Hashes of the text that converting it may cost. Each of its parts once cost two, and the text as JSON. */
const MAX_HASHES = 30;

test("the ids of a long text's parts cost no hash of the whole text each", () => {
  const content = "I said that the lazy dog sleeps. ".repeat(60_000);
  const source = { content, key: JSON.stringify(["session", content]) };
  const cost = (work: () => unknown) => {
    const times = Array.from({ length: 5 }, () => {
      const began = performance.now();
      work();
      return performance.now() - began;
    });
    return Math.min(...times);
  };
  const hash = cost(() => new Bun.CryptoHasher("sha256").update(content).digest());
  expect(convert("here", source).memories.length).toBeGreaterThan(MAX_HASHES);
  const ratio = cost(() => convert("here", source)) / hash;
  expect(ratio).toBeLessThan(MAX_HASHES);
});
