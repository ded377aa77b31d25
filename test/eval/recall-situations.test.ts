import { afterAll, expect, test } from "bun:test";
import { startServer } from "../support/server.ts";
import { rememberingEmbedder } from "./cached-embedder.ts";
import { readSituations, recallAll, recallMeasures } from "./recall-situations.ts";

const server = await startServer({ embedder: rememberingEmbedder() });
afterAll(server.close);

// Measured 1.00 and 1.00 for beginnings, 0.78 and 0.73 for prompts, with nothing of this half used for fitting.
test("recall brings what matters, and little else", async () => {
  const all = await recallAll(server, await readSituations("held"));
  const measure = (kind: "begin" | "prompt") =>
    recallMeasures(all.filter((one) => one.kind === kind));
  const [begins, prompts, both] = [measure("begin"), measure("prompt"), recallMeasures(all)];
  expect(begins.precision).toBeGreaterThanOrEqual(0.96);
  expect(begins.recall).toBeGreaterThanOrEqual(0.95);
  expect(prompts.precision).toBeGreaterThanOrEqual(0.73);
  expect(prompts.recall).toBeGreaterThanOrEqual(0.71);
  expect(both.precision).toBeGreaterThanOrEqual(0.89);
  expect(both.recall).toBeGreaterThanOrEqual(0.86);
});
