import { expect, test } from "bun:test";
import type { Principal } from "../../src/http/principal.ts";
import { isConnector } from "../../src/mcp/connector.ts";

const PERSON: Principal = {
  accountId: "acc_1",
  bound: null,
  scopes: ["memories:read"],
  via: "key",
  credential: { by: "laptop", id: "key_1" },
};
const from = (clientInfo: unknown) => ({
  method: "tools/list",
  params: { _meta: { "io.modelcontextprotocol/clientInfo": clientInfo } },
});

test.each<[string, string, string, unknown, Partial<Principal>, boolean]>([
  ["its header", "", "openai-mcp/1.0.0", null, {}, true],
  ["its message", "", "python-httpx/0.28.1", from({ name: "openai-mcp" }), {}, true],
  ["where it was allowed", "", "", null, { app: "chatgpt.com" }, true],
  ["its address", "?connector=true", "", null, {}, true],
  [
    "nothing",
    "",
    "claude-code/2.1.260",
    from({ name: "claude-code" }),
    { app: "claude.ai" },
    false,
  ],
  [
    "a name that is like it",
    "",
    "x",
    from({ name: "my openai-mcp" }),
    { app: "notchatgpt.com" },
    false,
  ],
  ["a malformed message", "?connector", "", from([{ name: "openai-mcp" }]), {}, false],
])("a client wants the connectors' tools by %s", (_, query, agent, message, more, expected) => {
  const request = new Request(`http://localhost:7733/mcp${query}`, {
    method: "POST",
    headers: { "user-agent": agent },
  });
  expect(isConnector(request, message, { ...PERSON, ...more })).toBe(expected);
});
