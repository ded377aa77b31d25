import { type Api, type Json, type Message, newId, textOf } from "./api.ts";

const USAGE = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 };

/** generateContent of Google. */
export const gemini: Api = {
  path: /:(?:stream)?generateContent$/i,
  read: ({ tools = [], systemInstruction, contents = [] }) => ({
    tools: [tools]
      .flat()
      .flatMap(({ functionDeclarations = [] }: Json) => functionDeclarations)
      .map((tool: Json) => ({ name: tool.name, definition: tool })),
    messages: [
      { role: "system", text: textOf(systemInstruction?.parts ?? systemInstruction) },
      ...contents.flatMap(toMessages),
    ],
  }),
  isStreamed: (_, path) => /:stream/i.test(path),
  answer: (reply, { generationConfig }) => {
    // The program's own helpers ask for JSON of some schema; they go on with an empty object.
    const isHelper = generationConfig?.responseMimeType === "application/json";
    const part =
      "text" in reply
        ? { text: isHelper ? "{}" : reply.text }
        : { functionCall: { id: newId("call"), name: reply.call.name, args: reply.call.input } };
    const content = { role: "model", parts: [part] };
    return {
      candidates: [{ content, finishReason: "STOP", index: 0 }],
      usageMetadata: USAGE,
      modelVersion: "stand-in",
    };
  },
  stream: (reply, body) => [{ data: gemini.answer(reply, body) }],
};

function toMessages({ role, parts = [] }: Json): Message[] {
  const of = (kind: string) => parts.filter((part: Json) => part[kind]);
  const calls = of("functionCall").map(({ functionCall: { name, args } }: Json) => ({
    name,
    input: args,
  }));
  const results = of("functionResponse").map((part: Json) => ({
    role: "tool",
    text: JSON.stringify(part.functionResponse.response),
  }));
  const text = textOf(of("text"));
  const isEmpty = text === "" && calls.length === 0;
  const speaker = role === "model" ? "assistant" : "user";
  const message = { role: speaker, text, ...(calls.length > 0 && { calls }) };
  return [...results, ...(isEmpty ? [] : [message])];
}
