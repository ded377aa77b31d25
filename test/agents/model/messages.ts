import { type Api, type Json, type Message, newId, type Reply, textOf } from "./api.ts";

/** Messages of Anthropic. */
export const messages: Api = {
  path: /\/messages$/,
  read: ({ tools = [], system = "", messages = [] }) => ({
    tools: tools.map((tool: Json) => ({ name: tool.name, definition: tool })),
    messages: [{ role: "system", text: textOf(system) }, ...messages.flatMap(toMessages)],
  }),
  isStreamed: ({ stream }) => stream === true,
  answer: (reply, body) => messageOf(reply, body),
  stream: (reply, body) => {
    const message = messageOf(reply, body);
    const [block] = message.content;
    const [start, delta] =
      "text" in reply
        ? [
            { ...block, text: "" },
            { type: "text_delta", text: reply.text },
          ]
        : [
            { ...block, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(reply.call.input) },
          ];
    const { stop_reason, stop_sequence } = message;
    const events = [
      { type: "message_start", message: { ...message, content: [], stop_reason: null } },
      { type: "content_block_start", index: 0, content_block: start },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason, stop_sequence }, usage: message.usage },
      { type: "message_stop" },
    ];
    return events.map((data) => ({ name: data.type, data }));
  },
};

/** The results of tools stand in messages of the user; here they are messages of their own. */
function toMessages({ role, content }: Json): Message[] {
  const parts: Json[] = Array.isArray(content) ? content : [{ type: "text", text: content }];
  const of = (kind: string) => parts.filter(({ type }) => type === kind);
  const calls = of("tool_use").map(({ name, input }) => ({ name, input }));
  const results = of("tool_result").map((part) => ({
    role: "tool" as const,
    text: textOf(part.content),
  }));
  const text = textOf(of("text"));
  const isEmpty = text === "" && calls.length === 0;
  return [...results, ...(isEmpty ? [] : [{ role, text, ...(calls.length > 0 && { calls }) }])];
}

function messageOf(reply: Reply, { model }: Json): Json {
  const isText = "text" in reply;
  const block = isText
    ? { type: "text", text: reply.text }
    : {
        type: "tool_use",
        id: newId("toolu"),
        name: reply.call.name,
        input: reply.call.input,
      };
  return {
    ...{ id: newId("msg"), type: "message", role: "assistant", model, content: [block] },
    stop_reason: isText ? "end_turn" : "tool_use",
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 10 },
  };
}
