import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/server";
import recorded from "../../src/mcp/first-answers.json" with { type: "json" };
import { firstAnswer } from "../../src/mcp/first-answers.ts";
import { fieldsOf, headersOf, messagesOf } from "../../src/mcp/http-message.ts";
import { startServer } from "../support/server.ts";
import { envelope, initialize, NEW } from "./support/agent-messages.ts";

const FILE = join(import.meta.dir, "../../src/mcp/first-answers.json");
const LISTS = ["tools/list", "prompts/list", "resources/templates/list"];
const OLD_METHODS = [...LISTS, "ping"];
const NEW_METHODS = [...LISTS, "server/discover"];

const server = await startServer();
afterAll(() => server.close());
const { key } = await server.account();

/** The server's answer, as a bridge writes it. @param negotiated the version of an earlier `initialize` */
async function ofServer(message: object, negotiated: string | null = null): Promise<string> {
  const response = await fetch(`${server.origin}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headersOf(message, negotiated),
    },
    body: JSON.stringify(message),
  });
  return (await Array.fromAsync(messagesOf(response, message))).join("\n");
}

const request = (fields: object) => ({ jsonrpc: "2.0", id: 1, ...fields });
const beginning = (params: object) =>
  request({ ...initialize, params: { ...initialize.params, ...params } });

async function resultOf(message: object) {
  return fieldsOf(fieldsOf(JSON.parse(await ofServer(message))).result);
}

test("the answers that a bridge gives by itself are those of the server", async () => {
  const { capabilities, instructions } = await resultOf(beginning({}));
  const lists = await Promise.all(
    LISTS.map(async (method) => [method, await resultOf(request({ method }))]),
  );
  const current = {
    protocolVersions: SUPPORTED_PROTOCOL_VERSIONS,
    introduction: { capabilities, instructions },
    lists: Object.fromEntries(lists),
  };
  if (process.env.CTXD_WRITE) await Bun.write(FILE, `${JSON.stringify(current, null, 2)}\n`);
  // Without CTXD_WRITE=1 it fails when the file is out of date.
  else expect(recorded as object).toEqual(current);
});

test.each([...SUPPORTED_PROTOCOL_VERSIONS, NEW, "1999-01-01", "", "nonsense"])(
  "initialize is answered word for word as by the server, for the version %p",
  async (protocolVersion) => {
    for (const id of [0, -1, "one", "", "ä\u2028\n"]) {
      const message = { ...beginning({ protocolVersion }), id };
      expect(firstAnswer(message)).toBe(await ofServer(message));
    }
    const clientInfo = { name: "x", title: "An agent", version: "1", websiteUrl: "https://x.test" };
    const capabilities = { roots: { listChanged: true }, sampling: {}, elicitation: {} };
    const _meta = { progressToken: 0 };
    const rich = beginning({ protocolVersion, clientInfo, capabilities, _meta });
    expect(firstAnswer(rich)).toBe(await ofServer(rich));
  },
);

test.each(SUPPORTED_PROTOCOL_VERSIONS)(
  "lists are answered word for word as by the server, after %s was agreed on",
  async (version) => {
    for (const method of OLD_METHODS) {
      for (const params of [undefined, {}, { _meta: { progressToken: "p-1" } }]) {
        const message = request({ method, ...(params && { params }) });
        expect(firstAnswer(message)).toBe(await ofServer(message, version));
      }
    }
  },
);

test(`messages of ${NEW}, which describe themselves, are answered word for word as by the server`, async () => {
  const whole = envelope("x");
  const { "io.modelcontextprotocol/clientInfo": _, ...anonymous } = whole._meta;
  const more = { ...whole._meta, progressToken: 7, "x.test/own": [1] };
  for (const method of NEW_METHODS) {
    for (const _meta of [whole._meta, anonymous, more]) {
      const message = request({ method, params: { _meta } });
      const answer = firstAnswer(message);
      expect(answer).toContain(`"id":1`);
      expect(answer).toBe(await ofServer(message));
    }
  }
});

test.each<[string, unknown]>([
  ["of another method", request({ method: "tools/call", params: { name: "list_memories" } })],
  ["that asks for memories", request({ method: "resources/list" })],
  [
    "that sets what the server lacks",
    request({ method: "logging/setLevel", params: { level: "info" } }),
  ],
  ["of an older method in a newer version", request({ method: "ping", params: envelope("x") })],
  ["of a newer method in an older version", request({ method: "server/discover" })],
  ["of an inherited name", request({ method: "constructor" })],
  ["without a method", request({})],
  ["of another protocol", { ...request({ method: "ping" }), jsonrpc: "1.0" }],
  ["without an id", { jsonrpc: "2.0", method: "ping" }],
  ["with half a number as id", { ...request({ method: "ping" }), id: 1.5 }],
  ["with an object as id", { ...request({ method: "ping" }), id: {} }],
  ["with an unknown field", request({ method: "ping", more: 1 })],
  ["with null as parameters", request({ method: "ping", params: null })],
  ["with a list as parameters", request({ method: "ping", params: [] })],
  ["with a cursor", request({ method: "tools/list", params: { cursor: "x" } })],
  ["with a list as _meta", request({ method: "tools/list", params: { _meta: [] } })],
  [
    "with a bad token of progress",
    request({ method: "ping", params: { _meta: { progressToken: {} } } }),
  ],
  ["without a version", beginning({ protocolVersion: undefined })],
  ["with a number as version", beginning({ protocolVersion: 1 })],
  ["without capabilities", beginning({ capabilities: undefined })],
  ["with bad capabilities", beginning({ capabilities: { roots: 1 } })],
  ["without a client", beginning({ clientInfo: undefined })],
  ["of a client without a version", beginning({ clientInfo: { name: "x" } })],
  [
    "of a client with a bad title",
    beginning({ clientInfo: { name: "x", version: "1", title: 1 } }),
  ],
  ["of a version to come", request({ method: "tools/list", params: inVersion("2027-01-01") })],
  ["of no version", request({ method: "tools/list", params: inVersion(null) })],
  [
    "of a client that is offered more tools",
    request({ method: "tools/list", params: envelope("openai-mcp") }),
  ],
  ["of several", [request({ method: "ping" })]],
  ["of text", "tools/list"],
  ["of nothing", null],
])("a message %s is left to the server", (_, message) => {
  expect(firstAnswer(message)).toBeNull();
});

function inVersion(version: unknown) {
  const { _meta } = envelope("x");
  return { _meta: { ..._meta, "io.modelcontextprotocol/protocolVersion": version } };
}
