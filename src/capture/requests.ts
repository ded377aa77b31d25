import { Type } from "@sinclair/typebox";
import { instant, text } from "../input-kinds.ts";
import { AgentId, LIMITS, Project, SessionId } from "../memories/memory.ts";
import { KEPT_DAYS } from "./capture.ts";
import { RECALL_CHARACTERS } from "./recall-limits.ts";

const MAX_PATH = 4_096;
/** Characters of a turn: several memories, where it takes them. */
const MAX_TURN = 1 << 20;
const strict = { additionalProperties: false };
const orNull = (schema: typeof Project, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const Folder = Type.String({
  minLength: 1,
  maxLength: MAX_PATH,
  description: "The folder that the agent works in. On the local socket alone.",
  examples: ["/home/sam/atlas"],
});

const GivenTurn = Type.Object(
  {
    role: Type.Union([Type.Literal("user"), Type.Literal("assistant")]),
    content: text(
      {
        minLength: 1,
        maxLength: MAX_TURN,
        description: "What was said.",
        examples: ["Call me Sam."],
      },
      { notBlank: true },
    ),
    id: Type.Optional(
      text({
        minLength: 1,
        maxLength: 1_000,
        description:
          "Tells it from all other turns of the agent: the same one again makes no second memory. By default its session and its text.",
        examples: ["turn-17"],
      }),
    ),
    at: Type.Optional(
      instant({ description: "When it was said.", examples: ["2026-11-21T07:00:00.000Z"] }),
    ),
  },
  strict,
);

/** The body of `POST /memories/capture`. */
export const CaptureRequest = Type.Object(
  {
    agent: {
      ...AgentId,
      description: "The agent that the conversation is with.",
      examples: ["claude-code"],
    },
    session_id: Type.Optional(SessionId),
    project: Type.Optional(
      orNull(
        Project,
        "What it is about; by default the project of the folder, on the same machine.",
      ),
    ),
    turns: Type.Optional(
      Type.Array(GivenTurn, {
        minItems: 1,
        maxItems: LIMITS.batch,
        description: "What was said, in its order.",
      }),
    ),
    transcript: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_PATH,
        description:
          "Path of the agent's transcript, in place of `turns`: what is new in it is read after the answer. On the local socket alone.",
        examples: ["/home/sam/.claude/projects/-atlas/0b5c.jsonl"],
      }),
    ),
    folder: Type.Optional(Folder),
    kept_days: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 3_650 }), Type.Null()], {
        default: KEPT_DAYS,
        description: "Days after which it is forgotten; `null` for never.",
      }),
    ),
  },
  strict,
);
/** Its answer. */
export const Captured = Type.Object({
  captured: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description:
      "How many memories are new; `null` where the transcript is read after the answer, and without the scope `memories:read`.",
  }),
});

/** The body of `POST /memories/recall`. */
export const RecallRequest = Type.Object(
  {
    session_id: Type.Optional(SessionId),
    project: Type.Optional(orNull(Project, "What the conversation is about.")),
    folder: Type.Optional(Folder),
    prompt: Type.Optional(
      Type.String({
        maxLength: MAX_TURN,
        description: "What the person asks; without it, what a conversation begins with.",
        examples: ["How do we deploy?"],
      }),
    ),
    fresh: Type.Optional(
      Type.Boolean({
        default: false,
        description: "Whether the conversation has forgotten what it was told.",
      }),
    ),
    max_characters: Type.Optional(
      Type.Integer({
        minimum: RECALL_CHARACTERS.min,
        maximum: RECALL_CHARACTERS.max,
        default: RECALL_CHARACTERS.default,
        description: "Of the text.",
      }),
    ),
  },
  strict,
);
/** Its answer. */
export const Recalled = Type.Object({
  text: Type.String({ description: "For the agent; empty where nothing is known." }),
});
