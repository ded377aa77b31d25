import { expect, test } from "bun:test";
import { startServer } from "../support/server.ts";

const PATH = "/.well-known/security.txt";

test("security.txt has a contact, an expiry and its own address", async () => {
  const config = { securityContact: "mailto:security@example.com" };
  await using server = await startServer({ config });
  const answer = await fetch(server.origin + PATH);
  expect(answer.status).toBe(200);
  expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(await answer.text()).toBe(
    [
      "Contact: mailto:security@example.com",
      "Expires: 2026-04-01T00:00:00.000Z",
      "Canonical: http://localhost:7733/.well-known/security.txt",
      "",
    ].join("\n"),
  );
});

test("without a contact there is no security.txt", async () => {
  await using server = await startServer();
  const answer = await fetch(server.origin + PATH);
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { code: "not_found" } });
});
