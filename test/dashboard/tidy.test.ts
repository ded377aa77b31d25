import { afterAll, expect, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";

const server = await startOAuthServer();
afterAll(server.close);
const { accountId, person } = await server.signedIn();
const reach = wholeAccount(accountId);

const DAY = 86_400_000;
/** Maximum bytes of a page's HTML when all names have the maximum length. */
const MOST_BYTES = 60_000;
/** A character of four bytes, and one that HTML writes with five. */
const WIDE = "𝔘&";

const inDays = (days: number) => new Date(server.clock() + days * DAY).toISOString();

test("with the longest texts and names the pages stay small, and other pages follow", async () => {
  const memories = Array.from({ length: 130 }, (_, at) => ({
    content: `${at} ${WIDE.repeat(500)}`,
    project: `${at} ${WIDE.repeat(40)}`,
    expires_at: inDays(2),
  }));
  await server.memories.saveAll(reach, memories.slice(0, 100));
  await server.memories.saveAll(reach, memories.slice(100));
  const { text: first } = await person.visit("/memories/tidy");
  expect(first).toContain("Expire soon (130)");
  const next = /href="([^"]+)">More</.exec(first)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const { text: second } = await person.visit(next);
  expect(second).toContain(">First</a>");
  const { text: preview } = await person.visit("/memories/tidy/all?kind=expiring");
  expect(preview).toContain("These are the first 100 of 130.");
  const search = formTo(await person.visit("/memories/forget"), "/memories/forget");
  const { text: forget } = await person.submit(search, { subject: "𝔘" });
  expect(forget).toContain("memories more that name it");
  const bytes = [first, second, preview, forget].map((html) => Buffer.byteLength(html));
  expect(bytes.map((size) => size < MOST_BYTES)).toEqual(bytes.map(() => true));
});

test("a memory that is alone in its project is not offered to be deleted with all others of its kind", async () => {
  const { person: owner, accountId: id } = await server.signedIn();
  await server.memories.saveAll(wholeAccount(id), [
    { content: "The heron's wing spans two metres", project: "birds" },
  ]);
  server.clock.advance(8 * DAY);
  expect((await owner.visit("/memories/tidy?kind=small_projects")).text).toContain("heron");
  const { text } = await owner.visit("/memories/tidy/all?kind=small_projects");
  expect(text).toContain("No other project is near");
  expect(text).not.toContain("heron");
});
