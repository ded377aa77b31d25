import { expect, test } from "bun:test";
import { contexts } from "../../src/memories/ranking/neighbours.ts";
import { contentsOf } from "../support/client.ts";
import { startServer } from "../support/server.ts";

const turn = (
  id: string,
  createdAt: number,
  content = "words",
  sessionId: string | null = "s",
) => ({
  id,
  sessionId,
  createdAt,
  content,
});
const only = (relevant: string) => (id: string) => (id === relevant ? 0.5 : 0);

test("a memory is lifted by what is beside it in its session, less by what is further off", () => {
  const turns = ["a", "b", "c", "d"].map((id, index) => turn(id, index));
  const around = contexts(turns.toReversed(), only("a"));
  expect(around.get("b")).toBeCloseTo(0.4);
  expect(around.get("c")).toBeCloseTo(0.2);
  expect(around.get("d")).toBe(0);
  expect(around.get("a")).toBe(0);
});

test("what was saved in one request keeps the order of its ids", () => {
  const around = contexts([turn("c", 0), turn("a", 0), turn("b", 0)], only("a"));
  expect(around.get("b")).toBeGreaterThan(around.get("c") ?? 1);
});

test("the answer after a question is lifted more than what stands before it", () => {
  const turns = [turn("a", 0), turn("b", 1, "How long?"), turn("c", 2)];
  const around = contexts(turns, only("b"));
  expect(around.get("c")).toBeGreaterThan(around.get("a") ?? 1);
});

test("memories of other sessions, and those of none, are not neighbours", () => {
  const turns = [turn("a", 0, "x", "s"), turn("b", 1, "x", "t"), turn("c", 2, "x", null)];
  const around = contexts(turns, only("a"));
  expect(around.get("b")).toBe(0);
  expect(around.get("c")).toBeUndefined();
});

test("a search finds the reply beside the memory that has the words", async () => {
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
  // By words alone only words count.
  expect(await ada.search("cost of the ferry to Larvik", { mode: "keyword" })).toHaveLength(1);
});

test("the message that has the words comes before the long reply to it", async () => {
  await using server = await startServer();
  const ada = await server.account();
  const advice = "Boats leave often in summer. Book early, take the morning one, bring a coat. ";
  await ada.saveAll([
    { content: "we take the ferry to Larvik in July with both dogs", session_id: "trip" },
    { content: advice.repeat(40), session_id: "trip" },
    { content: "dogs stay on deck, I read on the page of the ferry", session_id: "trip" },
  ]);
  const [first, second, last] = await ada.search("ferry to Larvik dogs", { explain: "true" });
  expect(first?.content).toStartWith("we take the ferry");
  expect(second?.content).toStartWith("dogs stay on deck");
  expect(last?.explanation?.context).toBeLessThan(0.2);
});
