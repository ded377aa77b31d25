import { afterAll, expect, test } from "bun:test";
import { startServer } from "../../support/server.ts";

const server = await startServer();
afterAll(server.close);

const MODES = ["hybrid", "semantic", "keyword"];
const FILLER = "Of this and that they spoke at length. ".repeat(30);

test("every result says what made it match, and where that is in its text", async () => {
  const ada = await server.account();
  const long = `${"🦜 ".repeat(50)}${FILLER}The kayak hangs in the boathouse. ${FILLER}`;
  await ada.saveAll([{ content: "A kayak." }, { content: long }]);
  for (const mode of MODES) {
    const found = await ada.search("where is the kayak?", { mode });
    expect(found).toHaveLength(2);
    for (const { content, matched } of found) {
      expect(matched.text).toContain("kayak");
      expect([...content].slice(matched.start, matched.end).join("")).toBe(matched.text);
      expect(matched.end - matched.start).toBeWithin(1, 401);
    }
  }
});

test("where no word tells, it is the beginning of the passage whose meaning is nearest", async () => {
  const ada = await server.account();
  // To the fake embedder every paragraph is a passage, and words count that no index has.
  const asked = "why then would this be";
  const paragraphs = [FILLER.trim(), `${asked} `.repeat(5).trim(), FILLER.trim()];
  await ada.save({ content: paragraphs.join("\n\n") });
  for (const mode of ["hybrid", "semantic"]) {
    const [found] = await ada.search(asked, { mode });
    expect(found?.matched.text.startsWith(asked)).toBe(true);
  }
});
