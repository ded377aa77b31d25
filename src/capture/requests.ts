import { type Static, Type } from "@sinclair/typebox";
import { type ProjectOf, rememberProjects } from "../import/transcripts/folders.ts";
import type { Turn } from "../import/transcripts/turn.ts";
import { AgentId, LIMITS, Project, SessionId } from "../memories/model/memory.ts";
import { instant, problemOf, text } from "../text/input-kinds.ts";
import { RECALL_CHARACTERS } from "./recall-text.ts";

const MAX_PATH_LENGTH = 4_096;
/** Characters of a turn. A long turn becomes several memories. */
export const MAX_TURN_LENGTH = 1 << 20;
/** Characters of a turn's id. */
export const MAX_TURN_ID_LENGTH = 1_000;
/** Days after which captured turns expire, by default. */
export const KEPT_DAYS = 90;
const strict = { additionalProperties: false };
const orNull = (schema: typeof Project, description: string) =>
  Type.Union([schema, Type.Null()], { description });

const Folder = Type.String({
  minLength: 1,
  maxLength: MAX_PATH_LENGTH,
  description: "The folder that the agent works in. Accepted on the local socket only.",
  examples: ["/home/sam/atlas"],
});

const GivenTurn = Type.Object(
  {
    role: Type.Union([Type.Literal("user"), Type.Literal("assistant")]),
    content: text(
      {
        minLength: 1,
        maxLength: MAX_TURN_LENGTH,
        description: "What was said.",
        examples: ["Call me Sam."],
      },
      { notBlank: true },
    ),
    id: Type.Optional(
      text({
        minLength: 1,
        maxLength: MAX_TURN_ID_LENGTH,
        description:
          "Identifies the turn among all turns of the agent: sending the same id again creates no second memory. Default: the session and the text.",
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
        "The project of the conversation. Default: the project of the folder, on the same machine.",
      ),
    ),
    turns: Type.Optional(
      Type.Array(GivenTurn, {
        minItems: 1,
        maxItems: LIMITS.batch,
        description: "What was said, in order.",
      }),
    ),
    transcript: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_PATH_LENGTH,
        description:
          "Path of the agent's transcript, instead of `turns`. Its new turns are read after the response. Accepted on the local socket only.",
        examples: ["/home/sam/.claude/projects/-atlas/0b5c.jsonl"],
      }),
    ),
    folder: Type.Optional(Folder),
    kept_days: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 3_650 }), Type.Null()], {
        default: KEPT_DAYS,
        description: "Days after which the turns expire; `null` for never.",
      }),
    ),
  },
  strict,
);
export type CaptureRequest = Static<typeof CaptureRequest>;

/** The turns of a request, in the form of those of transcripts. */
export function turnsOf({ session_id, turns = [] }: CaptureRequest): Turn[] {
  const session = session_id ?? null;
  return turns.map(({ role, content, id, at }) => ({
    ...{ role, text: content, at: at ?? null, folder: null, session },
    key: id ?? JSON.stringify([session, role, content]),
  }));
}

/** Its response. */
export const Captured = Type.Object({
  captured: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description:
      "Number of new memories. `null` when the transcript is read after the response, and without the scope `memories:read`.",
  }),
});

/** The body of `POST /memories/recall`. */
export const RecallRequest = Type.Object(
  {
    session_id: Type.Optional(SessionId),
    project: Type.Optional(orNull(Project, "The project of the conversation.")),
    folder: Type.Optional(Folder),
    prompt: Type.Optional(
      Type.String({
        maxLength: MAX_TURN_LENGTH,
        description:
          "What the user asks. Without it, the memories for the beginning of a conversation are returned.",
        examples: ["How do we deploy?"],
      }),
    ),
    fresh: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          "Whether the agent's context was cleared. Then memories that it has already received are returned again.",
      }),
    ),
    max_characters: Type.Optional(
      Type.Integer({
        minimum: RECALL_CHARACTERS.min,
        maximum: RECALL_CHARACTERS.max,
        default: RECALL_CHARACTERS.default,
        description: "Most characters of the text.",
      }),
    ),
    explain: Type.Optional(
      Type.Boolean({ default: false, description: "Whether each line says why it is there." }),
    ),
  },
  strict,
);
/** Its response. */
export const Recalled = Type.Object({
  text: Type.String({ description: "Text for the agent; empty when nothing is known." }),
});

/** The conversation that turns belong to. Turns without a folder or a session of their own have these. */
export type Conversation = Omit<CaptureRequest, "turns" | "transcript">;

/**
 * Returns a function that finds the project and the session of a turn. Null stands for none, and for one that a memory
 * can't have.
 */
export function createPlacing({ project, folder, session_id }: Conversation, projectOf: ProjectOf) {
  const ofFolder = rememberProjects(projectOf);
  return async (turn: Pick<Turn, "folder" | "session">) => {
    const own = turn.folder ?? folder;
    const found = project === undefined && own !== undefined ? await ofFolder(own) : project;
    return {
      project: validOrNull(Project, found ?? null),
      session: validOrNull(SessionId, turn.session ?? session_id ?? null),
    };
  };
}

/** The value if the schema accepts it, else null. */
function validOrNull(schema: typeof Project, value: string | null): string | null {
  return value !== null && problemOf(schema, value) === null ? value : null;
}
