import { basename } from "node:path";
import { Type } from "@sinclair/typebox";
import type { Recall } from "../capture/recall.ts";
import { NOTHING_KNOWN, READ_ONLY } from "./reading-tools.ts";
import { defineTool, type Tool } from "./tool.ts";
import { fields } from "./tool-inputs.ts";

/** Characters of an answer: about 1,500 tokens. */
const BUDGET = 6_000;

/**
 * The tool that an agent without hooks calls first. It replaces a search for the task, a search for
 * the user's preferences, and a list of the newest memories.
 */
export function createRecallTool(recall: Recall): Tool {
  return defineTool({
    name: "recall_context",
    title: "Recall context",
    description:
      "Call first in a conversation: what is known about the task, the project and the user's preferences.",
    scope: "memories:read",
    annotations: READ_ONLY,
    input: Type.Object(
      { task: Type.Optional({ ...fields.query, description: "What the user wants" }) },
      { additionalProperties: false },
    ),
    async run({ task = null }, { principal, project }) {
      const text = await recall.text(principal, {
        session: null,
        project,
        name: basename(project ?? "") || null,
        prompt: task,
        isFresh: true,
        isAsked: true,
        budget: BUDGET,
      });
      return { text: text || NOTHING_KNOWN };
    },
  });
}
