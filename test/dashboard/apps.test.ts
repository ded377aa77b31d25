import { afterAll, expect, test } from "bun:test";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { formTo } from "../oauth/support/person.ts";

const server = await startOAuthServer();
afterAll(server.close);

test("a connected app is listed, and disconnecting it ends its tokens at once", async () => {
  const { accountId, person, tokens } = await server.connect();
  expect(await server.use(tokens.access_token)).toBe(200);
  const page = await person.visit("/apps");
  expect(page.text).toContain("Example");
  expect(page.text).toContain("app.example.com");
  expect(page.text).toContain("read, write");
  const [grant] = await server.oauth.grants.list(accountId);
  const path = `/apps/${grant?.id}/revoke`;
  const question = await person.visit(path);
  expect(question.text).toContain("The memories that it saved stay.");
  const done = await person.submit(formTo(question, path));
  expect(done.text).toContain("“Example” is disconnected.");
  expect(done.text).toContain("No app is connected");
  expect(await server.use(tokens.access_token)).toBe(401);
  expect((await person.visit(path)).status).toBe(404);
});

test("apps of another account can't be seen or disconnected", async () => {
  const { accountId, tokens } = await server.connect();
  const [grant] = await server.oauth.grants.list(accountId);
  const { person } = await server.signedIn();
  const page = await person.visit("/apps");
  expect(page.text).toContain("No app is connected");
  const path = `/apps/${grant?.id}/revoke`;
  expect((await person.visit(path)).status).toBe(404);
  const forged = { ...page, forms: page.forms.map((form) => ({ ...form, action: path })) };
  expect((await person.submit(forged)).status).toBe(404);
  expect(await server.use(tokens.access_token)).toBe(200);
});
