import { basename } from "node:path";
import { Type } from "@sinclair/typebox";
import type { Recall } from "../capture/recall.ts";
import { NOTHING_KNOWN, READS } from "./reading-tools.ts";
import { defineTool, type Tool } from "./tool.ts";
import { fields } from "./tool-inputs.ts";

/** Characters of an answer: some 1,500 tokens. */
const BUDGET = 6_000;

/**
 * The tool that an agent begins with, where no hook has told it what is known. It takes the place of a
 * search for the task, one for how the person likes things, and a list of what is newest.
 */
export function createRecallTool(recall: Recall): Tool {
  return defineTool({
    name: "recall_context",
    title: "Recall context",
    description:
      "Call first in a conversation: what is known for the task, of the project, and of how the user likes things.",
    scope: "memories:read",
    annotations: READS,
    input: Type.Object(
      { task: Type.Optional({ ...fields.query, description: "What the user wants" }) },
      { additionalProperties: false },
    ),
    async run({ task = null }, { principal, project }) {
      const text = await recall.text(principal, {
        ...{ session: null, project, name: basename(project ?? "") || null, prompt: task },
        ...{ isFresh: true, isAsked: true, budget: BUDGET },
      });
      return { text: text || NOTHING_KNOWN };
    },
  });
}
