import { afterAll, expect, test } from "bun:test";
import { generateKey } from "../../src/keys/new-key.ts";
import type { Client } from "../support/client.ts";
import { expectInvalid } from "../support/errors.ts";
import { connectHttp } from "../support/mcp.ts";
import { startServer } from "../support/server.ts";

const server = await startServer({ config: { allowHttp: true } });
const owner = await server.account();
afterAll(server.close);

const WARNING = { code: "secret", message: "Contains what looks like a secret: ctxd-api-key." };
const connect = ({ key }: Client) =>
  connectHttp("v2 new", server.origin, { authorization: `Bearer ${key}` });
const counted = async (done: string) => {
  const headers = { authorization: `Bearer ${owner.key}` };
  const text = await (await fetch(`${server.origin}/api/metrics`, { headers })).text();
  const line = new RegExp(`ctxd_secrets_total\\{kind="ctxd-api-key",done="${done}"\\} (\\d+)`);
  return Number(line.exec(text)?.[1] ?? 0);
};

test("over HTTP a secret is saved unchanged, with a warning", async () => {
  const ada = await server.account();
  const before = await counted("saved");
  const content = `The key is ${generateKey()}.`;
  const metadata = { key: generateKey() };
  const saved = await ada.send("POST", "/memories", { json: { content, metadata } });
  const warnings = [
    { path: "/content", ...WARNING },
    { path: "/metadata", ...WARNING },
  ];
  expect(saved).toMatchObject({ status: 201, body: { content, warnings } });
  const { id } = saved.body as { id: string };
  const changed = await ada.send("PUT", `/memories/${id}`, { json: { content } });
  expect(changed.body).toMatchObject({ warnings: warnings.slice(0, 1) });
  const memories = [{ content: "harmless" }, { content }];
  const batch = await ada.send("POST", "/memories/batch", { json: { memories } });
  const [harmless, other] = (batch.body as { memories: object[] }).memories;
  expect(harmless).not.toHaveProperty("warnings");
  expect(other).toMatchObject({ warnings: warnings.slice(0, 1) });
  expect(await ada.get(id)).not.toHaveProperty("warnings");
  expect(await counted("saved")).toBe(before + 4);
});

test("over MCP a secret is refused, and the answer has its kind only", async () => {
  const ada = await server.account();
  const before = await counted("refused");
  await using agent = await connect(ada);
  const secret = generateKey();
  const { id } = await ada.save({ content: "The key is in the vault." });
  for (const [tool, input] of [
    ["save_memory", { content: `The key is ${secret}.` }],
    ["save_memory", { content: "The key", metadata: { it: secret } }],
    ["update_memory", { id, content: `The key is ${secret}.` }],
  ] as const) {
    const { isError, text } = await agent.call(tool, input);
    expect(isError).toBe(true);
    expect(text).toContain("ctxd-api-key");
    expect(text).not.toContain(secret);
  }
  expect((await ada.list()).memories).toMatchObject([{ content: "The key is in the vault." }]);
  expect(await counted("refused")).toBe(before + 3);
});

test("the answer to an invalid field contains no secret", async () => {
  const ada = await server.account();
  const secret = generateKey();
  const answer = await ada.send("POST", "/memories", { json: { content: secret, tags: [""] } });
  expectInvalid(answer, "/tags/0");
  expect(JSON.stringify(answer.body)).not.toContain(secret);
});

test("an import masks secrets in all fields of a line", async () => {
  const ada = await server.account();
  const before = await counted("masked");
  const secret = generateKey();
  const metadata = { key: secret, login: { user: "ada", password: "Blue-Horse7!" }, n: 1e-9 };
  const line = { content: `The key is ${secret}.`, tags: ["a", secret], metadata };
  const headers = { "content-type": "application/x-ndjson" };
  await ada.send("POST", "/memories/import", { body: JSON.stringify(line), headers });
  const key = "[masked: ctxd-api-key]";
  expect((await ada.list()).memories).toMatchObject([
    {
      content: `The key is ${key}.`,
      tags: ["a", key],
      metadata: { key, login: { user: "ada", password: "[masked: password]" }, n: 1e-9 },
    },
  ]);
  expect(await counted("masked")).toBe(before + 3);
});
