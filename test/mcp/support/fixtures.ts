import {
  acceptedContent,
  createRequestStateCodec,
  fromJsonSchema,
  type InputRequest,
  type InputRequests,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from "@modelcontextprotocol/server";

/** The smallest PNG and WAV there are. */
const IMAGE =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const IMAGE_CONTENT = { type: "image" as const, data: IMAGE, mimeType: "image/png" };

const description = { description: "For the conformance suite" };
const text = (content: string) => ({ type: "text" as const, text: content });
const saying = (content: string) => ({ content: [text(content)] });
const embedded = (uri: string, mimeType: string, content: string) => ({
  type: "resource" as const,
  resource: { uri, mimeType, text: content },
});

/** What the states of a conversation are signed with. */
const states = createRequestStateCodec<{ round: number }>({ key: "k".repeat(32) });

const strings = (...names: string[]) =>
  fromJsonSchema<Record<string, string>>({
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, { type: "string" }])),
    required: names,
  });

/**
 * A server with all that the conformance suite looks for by name. It is behind the product's own
 * transport, which is what the suite is to test; the product itself has none of this.
 */
export function createFixtureServer(): McpServer {
  const server = new McpServer(
    { name: "ctxd-fixtures", version: "1.0.0" },
    {
      capabilities: {
        tools: { listChanged: false },
        resources: { listChanged: false },
        prompts: { listChanged: false },
        completions: {},
        logging: {},
      },
      requestState: { verify: states.verify },
    },
  );
  addTools(server);
  addConversations(server);
  addResources(server);
  addPrompts(server);
  server.server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["paris", "park", "party"], total: 3, hasMore: false },
  }));
  return server;
}

function addTools(server: McpServer): void {
  const contents = {
    test_simple_text: [text("This is a simple text response for testing.")],
    test_image_content: [IMAGE_CONTENT],
    test_audio_content: [{ type: "audio" as const, data: SOUND, mimeType: "audio/wav" }],
    test_embedded_resource: [
      embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
    ],
    test_multiple_content_types: [
      text("Multiple content types test:"),
      IMAGE_CONTENT,
      embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
  };
  for (const [name, content] of Object.entries(contents)) {
    server.registerTool(name, description, () => ({ content }));
  }

  server.registerTool("test_error_handling", description, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.registerTool("test_tool_with_logging", description, async ({ mcpReq }) => {
    for (const said of ["Tool execution started", "Tool processing data"]) {
      await mcpReq.log("info", said);
      await Bun.sleep(50);
    }
    await mcpReq.log("info", "Tool execution completed");
    return saying("done");
  });
  server.registerTool("test_logging_tool", description, async ({ mcpReq }) => {
    await mcpReq.log("info", "only for who asks for it");
    return saying("done");
  });
  server.registerTool("test_tool_with_progress", description, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        const params = { progressToken, progress, total: 100 };
        await mcpReq.notify({ method: "notifications/progress", params });
      }
      await Bun.sleep(50);
    }
    return saying("done");
  });
  const address = {
    type: "object",
    properties: { street: { type: "string" }, city: { type: "string" } },
  };
  server.registerTool(
    "json_schema_2020_12_tool",
    {
      ...description,
      inputSchema: fromJsonSchema({
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        $defs: { address: { $anchor: "addressDef", ...address } },
        properties: {
          name: { type: "string" },
          address: { $ref: "#/$defs/address" },
          contactMethod: { type: "string", enum: ["phone", "email"] },
          phone: { type: "string" },
          email: { type: "string" },
        },
        allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
        if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
        // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
        then: { required: ["phone"] },
        else: { required: ["email"] },
        additionalProperties: false,
      }),
    },
    () => saying("done"),
  );
  // A keyword of the protocol's own.
  const region = { type: "string" as const, "x-mcp-header": "Region" };
  server.registerTool(
    "test_custom_header",
    {
      ...description,
      inputSchema: fromJsonSchema({
        type: "object",
        properties: { region },
        required: ["region"],
      }),
    },
    () => saying("done"),
  );
}

/** A question to the person before the client. */
const ask = (
  message: string,
  name: string,
  kind: { type: "string" } | { type: "boolean" } = { type: "string" },
): InputRequest =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [name]: kind }, required: [name] },
  });
const sample = (question: string, maxTokens: number): InputRequest =>
  inputRequired.createMessage({
    messages: [{ role: "user", content: { type: "text", text: question } }],
    maxTokens,
  });

/** Tools that answer with questions until they know enough. */
function addConversations(server: McpServer): void {
  const conversation = (name: string, questions: InputRequests, answer: string, signed = false) =>
    server.registerTool(name, description, async ({ mcpReq }) => {
      const given = Object.keys(questions).every(
        (key) => inputResponse(mcpReq.inputResponses, key).kind !== "missing",
      );
      if (given && (!signed || mcpReq.requestState<{ round: number }>()?.round === 1)) {
        return saying(`${answer} ${JSON.stringify(mcpReq.inputResponses)}`);
      }
      return inputRequired({
        inputRequests: questions,
        ...(signed && { requestState: await states.mint({ round: 1 }) }),
      });
    });

  const userName = ask("What is your name?", "name");
  const roots = inputRequired.listRoots();
  const ok = ask("Please confirm", "ok", { type: "boolean" });
  const prefix = "test_input_required_result";
  conversation(`${prefix}_elicitation`, { user_name: userName }, "Hello,");
  conversation("test_streaming_elicitation", { user_name: userName }, "Hello,");
  const capital = sample("What is the capital of France?", 100);
  conversation(`${prefix}_sampling`, { capital_question: capital }, "It is");
  conversation("test_missing_capability", { capital_question: capital }, "It is");
  conversation(`${prefix}_list_roots`, { client_roots: roots }, "The roots:");
  conversation(`${prefix}_request_state`, { confirm: ok }, "state-ok", true);
  conversation(`${prefix}_tampered_state`, { confirm: ok }, "state-ok", true);
  const greeting = sample("Generate a greeting", 50);
  const all = { user_name: userName, greeting, client_roots: roots };
  conversation(`${prefix}_multiple_inputs`, all, "All:", true);

  server.registerTool(`${prefix}_multi_round`, description, async ({ mcpReq }) => {
    const round = mcpReq.requestState<{ round: number }>()?.round ?? 0;
    if (round === 2) return saying("Both are known.");
    const questions = [
      { step1: ask("Step 1: What is your name?", "name") },
      { step2: ask("Step 2: What is your favorite color?", "color") },
    ];
    return inputRequired({
      inputRequests: questions[round] ?? {},
      requestState: await states.mint({ round: round + 1 }),
    });
  });
  server.registerTool(`${prefix}_capabilities`, description, ({ mcpReq }) => {
    const { "io.modelcontextprotocol/clientCapabilities": can } = mcpReq.envelope as {
      "io.modelcontextprotocol/clientCapabilities"?: Record<string, object>;
    };
    return inputRequired({
      inputRequests: {
        ...(can?.sampling && { capital_question: capital }),
        ...(can?.elicitation && { user_name: userName }),
      },
    });
  });
}

function addResources(server: McpServer): void {
  const plain = { mimeType: "text/plain" };
  server.registerResource("static-text", "test://static-text", plain, ({ href: uri }) => ({
    contents: [{ uri, ...plain, text: "This is the content of the static text resource." }],
  }));
  const image = { mimeType: "image/png" };
  server.registerResource("static-binary", "test://static-binary", image, ({ href: uri }) => ({
    contents: [{ uri, ...image, blob: IMAGE }],
  }));
  const json = { mimeType: "application/json" };
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    json,
    ({ href: uri }, { id }) => {
      const content = { id, templateTest: true, data: `Data for ID: ${id}` };
      return { contents: [{ uri, ...json, text: JSON.stringify(content) }] };
    },
  );
}

function addPrompts(server: McpServer): void {
  const user = <Content>(content: Content) => ({ role: "user" as const, content });
  server.registerPrompt("test_simple_prompt", description, () => ({
    messages: [user(text("This is a simple prompt for testing."))],
  }));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { ...description, argsSchema: strings("arg1", "arg2") },
    ({ arg1, arg2 }) => ({
      messages: [user(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`))],
    }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { ...description, argsSchema: strings("resourceUri") },
    ({ resourceUri = "" }) => ({
      messages: [
        user(embedded(resourceUri, "text/plain", "Embedded resource content for testing.")),
        user(text("Please process the embedded resource above.")),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", description, () => ({
    messages: [user(IMAGE_CONTENT), user(text("Please analyze the image above."))],
  }));
  server.registerPrompt("test_input_required_result_prompt", description, ({ mcpReq }) => {
    const known = acceptedContent(mcpReq.inputResponses, "user_context");
    if (known) return { messages: [user(text(`The context: ${known.context}`))] };
    const question = ask("What context should the prompt use?", "context");
    return inputRequired({ inputRequests: { user_context: question } });
  });
}
