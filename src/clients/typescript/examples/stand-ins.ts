import {
  assistantMessage,
  functionCall,
  modelResponder,
  ScriptedModel,
} from "@openai/agents/testing";
import { MockLanguageModelV4 } from "ai/test";

// Scripted models, so that the examples run without a model's API key. They save statements, search for the
// answers of questions, and answer with the results.

interface Use {
  name: string;
  input: { [field: string]: unknown };
}

/** @param found what the tool has answered, as JSON; undefined before it was called */
function decide(said: string, found: string | undefined): Use | string {
  const isQuestion = said.trim().endsWith("?");
  if (found !== undefined) return isQuestion ? `I know this: ${found}` : "I will remember that.";
  if (isQuestion) return { name: "search_memories", input: { query: said } };
  return { name: "save_memory", input: { content: said } };
}

/** For the AI SDK and Mastra, in the place of a model such as "anthropic/claude-opus-5-5". */
export const languageModel: MockLanguageModelV4 = new MockLanguageModelV4({
  async doGenerate({ prompt }) {
    const asked = prompt.findLast(({ role }) => role === "user");
    const answered = prompt.findLast(({ role }) => role === "tool");
    const said = JSON.stringify(asked?.content).match(/"text":"([^"]*)"/)?.[1] ?? "";
    const next = decide(said, answered && JSON.stringify(answered.content));
    const isText = typeof next === "string";
    return {
      content: [
        isText
          ? { type: "text", text: next }
          : {
              ...{ type: "tool-call", toolCallId: "1" },
              ...{ toolName: next.name, input: JSON.stringify(next.input) },
            },
      ],
      finishReason: { unified: isText ? "stop" : "tool-calls", raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 1, text: 1, reasoning: 0 },
      },
      warnings: [],
    };
  },
});

const turn = modelResponder(({ request }) => {
  const items = typeof request.input === "string" ? [] : request.input;
  const asked = items.findLast((item) => "role" in item && item.role === "user");
  const answered = items.findLast((item) => item.type === "function_call_result");
  const content = asked && "content" in asked ? asked.content : request.input;
  const said = typeof content === "string" ? content : "";
  const next = decide(said, answered && JSON.stringify(answered.output));
  if (typeof next === "string") return [assistantMessage(next)];
  return [functionCall(next.name, next.input, { callId: "1" })];
});

/** For the OpenAI Agents SDK, in the place of a model such as "gpt-5". */
export const agentsModel: ScriptedModel = new ScriptedModel([turn, turn, turn, turn]);

let toldClaude = "";

/** For `new Anthropic({ fetch })`, in the place of the API: writes a file, and reads it. */
export const claude: typeof fetch = Object.assign(
  async (_url: unknown, request?: RequestInit) => {
    const { content: newest } = JSON.parse(String(request?.body)).messages.at(-1);
    if (typeof newest === "string") toldClaude = newest;
    const answered = typeof newest === "string" ? undefined : JSON.stringify(newest);
    const path = "/memories/about-me.md";
    const next = decide(toldClaude, answered);
    const content =
      typeof next === "string"
        ? { type: "text", text: next }
        : {
            ...{ type: "tool_use", id: "1", name: "memory" },
            input:
              next.name === "save_memory"
                ? { command: "create", path, file_text: toldClaude }
                : { command: "view", path },
          };
    return Response.json({
      ...{ id: "1", type: "message", role: "assistant", model: "stand-in", content: [content] },
      stop_reason: typeof next === "string" ? "end_turn" : "tool_use",
      usage: { input_tokens: 1, output_tokens: 1 },
    });
  },
  { preconnect: fetch.preconnect },
);
