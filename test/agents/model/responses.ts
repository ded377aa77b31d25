import { type Api, type Json, type Message, newId, type Reply, textOf } from "./api.ts";

const USAGE = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 110,
};

/** Responses of OpenAI. */
export const responses: Api = {
  path: /\/responses$/,
  read: ({ tools = [], instructions = "", input = [] }) => {
    const items = typeof input === "string" ? [{ role: "user", content: input }] : input;
    return {
      tools: tools.flatMap(toolsOf),
      messages: [
        { role: "system", text: instructions },
        ...tools.filter(isNamespace).map(({ description = "" }: Json) => ({
          ...{ role: "system", text: description },
        })),
        ...items.map(toMessage),
      ],
    };
  },
  isStreamed: ({ stream }) => stream === true,
  answer: (reply, body) => responseOf(itemOf(reply), body),
  stream: (reply, body) => {
    const item = itemOf(reply);
    const whole = responseOf(item, body);
    const response = { ...whole, status: "in_progress", output: [], usage: null };
    const events = [
      { type: "response.created", response },
      ...eventsOf(item, reply),
      { type: "response.output_item.done", output_index: 0, item },
      { type: "response.completed", response: whole },
    ];
    return events.map((event, sequence_number) => ({
      name: event.type,
      data: { ...event, sequence_number },
    }));
  },
};

/** A namespace is a group of tools with a description of its own, which the model reads as well. */
const isNamespace = ({ type }: Json) => type === "namespace";

function toolsOf(tool: Json) {
  if (!isNamespace(tool)) return [{ name: tool.name ?? tool.type, definition: tool }];
  return tool.tools.map((each: Json) => ({
    name: each.name,
    namespace: tool.name,
    definition: each,
  }));
}

function toMessage({ type, role, content, ...item }: Json): Message {
  if (type === "function_call") {
    return { role: "assistant", text: "", calls: [{ name: item.name, input: item.arguments }] };
  }
  if (/_output$/.test(type ?? "")) return { role: "tool", text: textOf(item.output ?? item.tools) };
  return { role: role === "developer" ? "system" : role, text: textOf(content) };
}

function itemOf(reply: Reply): Json {
  const status = "completed";
  if ("text" in reply) {
    const content = [{ type: "output_text", text: reply.text, annotations: [] }];
    return { type: "message", id: newId("msg"), role: "assistant", status, content };
  }
  const { input, ...called } = reply.call;
  const ids = { id: newId("fc"), call_id: newId("call") };
  return { type: "function_call", ...ids, ...called, arguments: JSON.stringify(input), status };
}

function responseOf(item: Json, { model }: Json): Json {
  return {
    id: newId("resp"),
    object: "response",
    created_at: 1_795_000_000,
    ...{ model, status: "completed", output: [item], usage: USAGE },
    ...{ error: null, incomplete_details: null, tools: [], tool_choice: "auto" },
    parallel_tool_calls: false,
  };
}

/** The events by which the content of an item arrives. */
function eventsOf(item: Json, reply: Reply): Json[] {
  const at = { item_id: item.id, output_index: 0 };
  const added = (empty: object) => ({
    type: "response.output_item.added",
    output_index: 0,
    item: { ...item, ...empty, status: "in_progress" },
  });
  if ("call" in reply) {
    const kind = "response.function_call_arguments";
    return [
      added({ arguments: "" }),
      { type: `${kind}.delta`, ...at, delta: item.arguments },
      { type: `${kind}.done`, ...at, arguments: item.arguments },
    ];
  }
  const { text } = reply;
  const [part] = item.content;
  const place = { ...at, content_index: 0 };
  return [
    added({ content: [] }),
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...place, delta: text },
    { type: "response.output_text.done", ...place, text },
    { type: "response.content_part.done", ...place, part },
  ];
}
