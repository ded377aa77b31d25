import { expect, test } from "bun:test";
import { contentsOf } from "../support/client.ts";
import { startServer } from "../support/server.ts";

test("a search finds the reply after the message with the words", async () => {
  await using server = await startServer();
  const ada = await server.account();
  await ada.saveAll([
    { content: "what does the ferry to Larvik cost?", session_id: "trip" },
    { content: "about three hundred and ten, plus breakfast", session_id: "trip" },
    { content: "nothing else happened on that dull day", session_id: "other" },
    { content: "nobody came by and nobody called either" },
  ]);
  for (const mode of ["hybrid", "semantic"]) {
    const found = await ada.search("cost of the ferry to Larvik", { mode, limit: 2 });
    expect(contentsOf(found)[1]).toContain("three hundred");
  }
  // A search by words compares words only.
  expect(await ada.search("cost of the ferry to Larvik", { mode: "keyword" })).toHaveLength(1);
});

test("the message with the words comes before its long reply", async () => {
  await using server = await startServer();
  const ada = await server.account();
  const advice = "Boats leave often in summer. Book early, take the morning one, bring a coat. ";
  await ada.saveAll([
    { content: "we take the ferry to Larvik in July with both dogs", session_id: "trip" },
    { content: advice.repeat(40), session_id: "trip" },
    { content: "dogs stay on deck, I read on the page of the ferry", session_id: "trip" },
  ]);
  const found = await ada.search("ferry to Larvik dogs", { explain: "true" });
  const [first, second, last] = found;
  expect(first?.content).toStartWith("we take the ferry");
  expect(second?.content).toStartWith("dogs stay on deck");
  expect(last?.explanation?.session).toBeLessThan((second?.explanation?.session ?? 0) / 2);
});
