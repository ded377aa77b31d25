import { afterAll, expect, test } from "bun:test";
import { findSecrets } from "../../src/secrets/find-secrets.ts";
import { connectHttp } from "../support/mcp.ts";
import { startServer } from "../support/server.ts";

const server = await startServer();
afterAll(server.close);

/** A made-up token in the form of a GitHub token. */
const SECRET = `ghp_${"aZ3kQ9xL2mN7pR4tV8wY1bC6dF0gH5jS7uX2".slice(0, 36)}`;

const PLACES = {
  "a content": { content: `Use ${SECRET} for the build.` },
  "a content with spaces of no width": { content: `Use ${[...SECRET].join("\u200b")} there.` },
  "a content with soft hyphens": { content: `Use gh\u00adp_${SECRET.slice(4)} there.` },
  "a tag": { content: "x", tags: [SECRET] },
  "a key of metadata": { content: "x", metadata: { deep: [{ [SECRET]: 1 }] } },
  "a value of metadata": { content: "x", metadata: { token: SECRET } },
  "a project": { content: "x", project: SECRET },
  "an agent": { content: "x", agent_id: SECRET },
  "a session": { content: "x", session_id: SECRET },
};

test.each(Object.entries(PLACES))("a secret in %s is found on every way", async (_, memory) => {
  const account = await server.account();
  const { key, send } = account;
  const saved = await send("POST", "/memories", { json: memory });
  expect(saved.body).toMatchObject({ warnings: [{ code: "secret" }] });

  const other = await server.account();
  const response = await fetch(`${server.origin}/api/memories/import`, {
    method: "POST",
    headers: { authorization: `Bearer ${other.key}`, "content-type": "application/x-ndjson" },
    body: JSON.stringify(memory),
  });
  expect(await response.json()).toMatchObject({ created: 1, masked: 1 });
  const kept = JSON.stringify(await other.list()).replaceAll(/\p{Cf}/gu, "");
  expect(kept).not.toContain(SECRET);

  const client = await connectHttp("v2 new", server.origin, { authorization: `Bearer ${key}` });
  try {
    const fields = ["content", "tags", "project"];
    if (!Object.keys(memory).every((name) => fields.includes(name))) return;
    const { isError, text } = await client.call("save_memory", memory);
    expect(isError).toBe(true);
    expect(text).not.toContain(SECRET);
  } finally {
    await client.close();
  }
});

test("invisible characters alone are no secret, and a masked text keeps the others", () => {
  expect(findSecrets("\u200b\u00ad\u200d 👩‍💻 می‌خواهم")).toEqual([]);
  const text = `\u200bUse ${SECRET} there.\u200b`;
  const [found] = findSecrets(text);
  expect(text.slice(found?.start, found?.end)).toBe(SECRET);
});
