import { type Api, type Json, type Message, newId, type Reply, textOf } from "./api.ts";

const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
const ROLES: Readonly<Record<string, Message["role"]>> = { developer: "system" };

/** Chat Completions of OpenAI, which many other makers offer too. */
export const chat: Api = {
  path: /\/chat\/completions$/,
  read: ({ tools = [], messages = [] }) => ({
    tools: tools.map((tool: Json) => ({ name: (tool.function ?? tool).name, definition: tool })),
    messages: messages.map(({ role, content, tool_calls: calls }: Json) => ({
      role: ROLES[role] ?? role,
      text: textOf(content),
      ...(calls && {
        calls: calls.map(({ function: called }: Json) => ({
          name: called.name,
          input: called.arguments,
        })),
      }),
    })),
  }),
  isStreamed: ({ stream }) => stream === true,
  answer: (reply, body) => ({
    ...headOf(body, "chat.completion"),
    choices: [{ index: 0, message: messageOf(reply), finish_reason: endOf(reply) }],
    usage: USAGE,
  }),
  stream: (reply, body) => {
    const head = headOf(body, "chat.completion.chunk");
    const chunk = (delta: object, finish_reason: string | null = null) => ({
      data: { ...head, choices: [{ index: 0, delta, finish_reason }] },
    });
    return [
      chunk(messageOf(reply)),
      chunk({}, endOf(reply)),
      { data: { ...head, choices: [], usage: USAGE } },
      { data: "[DONE]" },
    ];
  },
};

function headOf({ model }: Json, object: string) {
  return { id: newId("chatcmpl"), object, created: 1_795_000_000, model };
}

function messageOf(reply: Reply) {
  if ("text" in reply) return { role: "assistant", content: reply.text };
  const { name, input } = reply.call;
  const called = { name, arguments: JSON.stringify(input) };
  const call = { index: 0, id: newId("call"), type: "function", function: called };
  return { role: "assistant", content: null, tool_calls: [call] };
}

function endOf(reply: Reply): string {
  return "text" in reply ? "stop" : "tool_calls";
}
