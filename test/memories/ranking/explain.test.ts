import { expect, test } from "bun:test";
import { startServer } from "../../support/server.ts";

const DAY = 86_400_000;

test("the parts of every score add up to it, whatever age and newer versions make of the order", async () => {
  await using server = await startServer();
  const ada = await server.account();
  const contents = [
    "The kayak hangs in the boathouse",
    "Sam works at Acme",
    "The boathouse has a new roof",
    "A kayak is no canoe, said Sam",
    "Sam works at Globex now",
    "In the garden stands a canoe",
    "The roof of the garden shed leaks",
    "Sam keeps bees",
  ];
  for (const content of contents) {
    await ada.save({ content });
    server.clock.advance(40 * DAY);
  }
  for (const q of ["where is the kayak", "where does Sam work", "roof", "garden canoe", "zzzz"]) {
    for (const mode of ["hybrid", "semantic", "keyword"]) {
      for (const { score, explanation } of await ada.search(q, { mode, explain: "true" })) {
        const { relevance = 0, retention = 0, decay = 0, ...parts } = explanation ?? {};
        const sum = Object.values(parts).reduce((all, part) => all + part, 0);
        expect(1 / (1 + Math.exp(-sum))).toBeCloseTo(relevance, 4);
        const shown = relevance * (1 - decay + decay * retention);
        expect({ q, mode, isShown: Math.abs(shown - score) < 0.001 }).toEqual({
          ...{ q, mode, isShown: true },
        });
      }
    }
  }
});
