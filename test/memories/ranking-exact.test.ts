import { afterAll, expect, test } from "bun:test";
import { rememberingEmbedder } from "../eval/cached-embedder.ts";
import { contentsOf } from "../support/client.ts";
import { startServer } from "../support/server.ts";

const server = await startServer({ embedder: rememberingEmbedder() });
afterAll(server.close);
const ada = await server.account();

const FILLER = Array.from(
  { length: 500 },
  (_, index) => `Note ${index}: the meeting room on floor ${index % 9} was cleaned and locked.`,
).join(" ");
const FACT = "The gardener must not water the orchids after sunset.";

/** A question, and the memory that must be the first result. */
const FOUND_FIRST = [
  ["ERR_SOCKET_7741", "ERR_SOCKET_7741 comes when the proxy closes the connection."],
  ["what does ERR_SOCKET_7714 mean", "ERR_SOCKET_7714 comes when a certificate is missing."],
  ["invoice 2026-0118", "Invoice 2026-0118 was paid on 11 February."],
  ["src/net/retry.ts", "The retry policy lives in src/net/retry.ts."],
  ["备份密码在哪里", "服务器的备份密码保存在保险柜里。"],
  ["密码", "服务器的备份密码保存在保险柜里。"],
  ["Wo hängt der Kellerschlüssel?", "Der Kellerschlüssel hängt hinter der Küchentür."],
  ["nieghbour practising violn", "The neighbour practises the violin until nine."],
  ["4021", "The bedroom is painted in shade 4021."],
  ["watering the orchids after sunset", `${FILLER.slice(0, 29_900)}. ${FACT}`],
] as const;

const OTHERS = [
  "Invoice 2026-0119 is still open.",
  "Invoice 2026-0117 was paid on 4 February.",
  "The retry button is grey.",
  "The bedroom window is stuck, order part 4012.",
  "用户喜欢喝乌龙茶。",
  "儿子不能吃虾。",
  "Der Dachdecker kommt am 4. Mai.",
  "The tomatoes are watered in the morning.",
  "The socket in the hall is loose.",
];

test("exact names, numbers, other languages and the end of a long text come first", async () => {
  const contents = [...new Set([...OTHERS, ...FOUND_FIRST.map(([, content]) => content)])];
  await ada.saveAll(contents.map((content) => ({ content })));
  for (const [question, content] of FOUND_FIRST) {
    const [first] = contentsOf(await ada.search(question, { limit: 1 }));
    expect({ question, first }).toEqual({ question, first: content });
  }
});

test("a search explains its scores only when asked", async () => {
  const [plain] = await ada.search("4021");
  expect(plain).not.toHaveProperty("explanation");
  for (const mode of ["hybrid", "semantic", "keyword"]) {
    const found = await ada.search("shade of the bedroom", { mode, explain: "true" });
    for (const { score, explanation } of found) {
      if (!explanation) throw new Error("there is no explanation");
      const { relevance, retention, decay, ...parts } = explanation;
      const sum = Object.values(parts).reduce((sum, part) => sum + part, 0);
      expect(relevance).toBeCloseTo(1 / (1 + Math.exp(-sum)), 6);
      expect(score).toBeCloseTo(relevance * (1 - decay + decay * retention), 3);
    }
    expect(found[0]?.explanation?.[mode === "semantic" ? "meaning" : "words"]).toBeGreaterThan(1);
  }
});

test("without decay a score never falls, and min_score compares the shown score", async () => {
  const bob = await server.account();
  await bob.save({ content: "The kayak is in the boat house.", importance: 0 });
  const score = async (query = {}) => (await bob.search("where is the kayak", query))[0]?.score;
  const fresh = await score();
  server.clock.advance(1_000 * 86_400_000);
  expect(await score({ decay: "false" })).toBe(fresh);
  const old = (await score()) ?? 1;
  expect(old).toBeCloseTo(0.75 * (fresh ?? 0), 3);
  expect(await score({ min_score: old })).toBe(old);
  expect(await score({ min_score: fresh ?? 0 })).toBeUndefined();
  expect(await score({ min_score: fresh ?? 0, decay: "false" })).toBe(fresh);
});

test("a single common word is no full match, all words of the query are", async () => {
  const bob = await server.account();
  await bob.saveAll([
    { content: "Capital letters are bad style." },
    { content: "The cat sleeps on the sofa." },
    { content: "The train leaves at nine." },
  ]);
  const best = async (query: string) => (await bob.search(query, { mode: "keyword" }))[0]?.score;
  expect(await best("capital of France with the tallest tower")).toBeLessThan(0.5);
  expect(await best("cat on the sofa")).toBeGreaterThan(0.6);
});
