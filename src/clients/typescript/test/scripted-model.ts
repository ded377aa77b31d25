import { MockLanguageModelV4 } from "ai/test";
import type { ToolScript } from "./tool-script.ts";

/** The model of the AI SDK's own tests, which plays a script. Mastra takes it as well. */
export function createScriptedModel({ next }: ToolScript): MockLanguageModelV4 {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  return new MockLanguageModelV4({
    async doGenerate({ prompt }) {
      const parts = prompt.flatMap(({ role, content }) => (role === "tool" ? content : []));
      const answers = parts.flatMap((part) => (part.type === "tool-result" ? [part.output] : []));
      const use = next(answers.map((answer) => ("value" in answer ? answer.value : answer)));
      const toolCallId = `call-${answers.length}`;
      const call = use && { toolName: use.name, input: JSON.stringify(use.input), toolCallId };
      return {
        content: [call ? { type: "tool-call", ...call } : { type: "text", text: "Done." }],
        finishReason: { unified: use ? "tool-calls" : "stop", raw: undefined },
        ...{ usage, warnings: [] },
      };
    },
  });
}
