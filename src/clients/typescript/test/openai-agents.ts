import { expect, test } from "bun:test";
import { Agent, type AgentInputItem, Runner } from "@openai/agents";
import {
  assistantMessage,
  functionCall,
  modelResponder,
  ScriptedModel,
} from "@openai/agents/testing";
import { memoryTools } from "../src/adapters/openai-agents.ts";
import { createToolScript } from "./tool-script.ts";

test("a model saves, finds, changes and deletes by the tools of the OpenAI Agents SDK", async () => {
  const script = createToolScript();
  const turn = modelResponder(({ request, index }) => {
    const items: readonly AgentInputItem[] = typeof request.input === "string" ? [] : request.input;
    const answers = items.flatMap((item) =>
      item.type === "function_call_result" ? [item.output] : [],
    );
    const use = script.next(answers.map((answer) => textOf(answer)));
    const callId = `call-${index}`;
    return [use ? functionCall(use.name, use.input, { callId }) : assistantMessage("Done.")];
  });
  const agent = new Agent({
    name: "Assistant",
    model: new ScriptedModel(Array.from({ length: 20 }, () => turn)),
    tools: memoryTools(script.client),
  });
  const { finalOutput } = await new Runner({ tracingDisabled: true }).run(agent, "I am Ana.", {
    maxTurns: 20,
  });
  expect(finalOutput).toBe("Done.");
  await script.check();
});

function textOf(output: unknown): string {
  const isText = typeof output === "object" && output !== null && "text" in output;
  return isText ? String(output.text) : String(output);
}
