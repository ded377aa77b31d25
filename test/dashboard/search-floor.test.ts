import { afterAll, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { fakeEmbedder } from "../support/fake-embedder.ts";

const { relate } = sharedEmbedder();
const server = await startOAuthServer({ embedder: { ...fakeEmbedder(), relate } });
afterAll(server.close);
const { accountId, person } = await server.signedIn();

test("a search without an answer says so, and shows the nearest memories on request", async () => {
  await (await server.client(accountId)).save({
    content: "The spare key lies under the flowerpot",
  });
  const page = await person.visit("/memories?q=zzzz");
  expect(page.text).toContain("Nothing is known about this");
  expect(page.text).not.toContain("flowerpot");
  expect(page.text).toContain("/memories?q=zzzz&amp;rest=1");
  const { text } = await person.visit("/memories?q=zzzz&rest=1");
  expect(text).toContain("flowerpot");
  expect(text).toContain("1 memory, nearest first");
  expect(text).toContain('<a href="/memories?q=zzzz">');
});

test("a search shows likely answers, with a link to the others", async () => {
  const page = await person.visit("/memories?q=where+lies+the+spare+key");
  expect(page.text).toContain("flowerpot");
  expect(page.text).toContain("rest=1");
});

test("an older version of a fact links to the newer one", async () => {
  // A search waits for five seconds, and the model's first start may take longer.
  await relate("one", "two");
  const client = await server.client(accountId);
  await client.save({ content: "The wifi password of the guests is tulip-garden" });
  server.clock.advance(86_400_000);
  const { id } = await client.save({ content: "The wifi password of the guests is now harbour" });
  const { text } = await person.visit("/memories?q=wifi+password+of+the+guests");
  expect(text).toContain(`<a href="/memories/${id}">There is a newer memory</a>`);
});
