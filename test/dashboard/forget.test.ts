import { afterAll, expect, spyOn, test } from "bun:test";
import { wholeAccount } from "../../src/keys/reach.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";

const server = await startOAuthServer();
afterAll(server.close);
const { accountId, person } = await server.signedIn();

test("a receipt is shown again, to two at once, and when the files can't be checked, for one hour", async () => {
  await server.memories.save(wholeAccount(accountId), { content: "Anna sings." });
  const search = formTo(await person.visit("/memories/forget"), "/memories/forget");
  const found = await person.submit(search, { subject: "Anna" });
  const asked = await person.submit(formTo(found, "/memories/forget/ask"));
  const { url, text } = await person.submit(formTo(asked, "/memories/forget/receipt"));
  using use = spyOn(server.store, "use");
  use.mockRejectedValue(new Error("the table can't be opened"));
  expect(text).toContain("Leave the files");
  for (const page of await Promise.all([person.visit(url), person.visit(url)])) {
    expect(page.text).toContain("Leave the files");
  }
  expect(use).toHaveBeenCalled();
  server.clock.advance(59 * 60_000);
  expect((await person.visit(url)).status).toBe(200);
  server.clock.advance(2 * 60_000);
  expect((await person.visit(url)).status).toBe(404);
});
