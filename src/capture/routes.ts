import { basename } from "node:path";
import { Type } from "@sinclair/typebox";
import { type Context, Elysia } from "elysia";
import { AppError } from "../errors.ts";
import { createBodyReader } from "../http/body.ts";
import { responses } from "../http/openapi.ts";
import type { Authorize, Principal } from "../http/principal.ts";
import { checkQueryString } from "../http/query.ts";
import type { Turn } from "../import/transcripts/turn.ts";
import { allows, type Scope } from "../keys/scopes.ts";
import type { Log } from "../log.ts";
import { AgentId, LIMITS, Project, SessionId } from "../memories/memory.ts";
import { instant, text } from "../schema.ts";
import { type Capture, type Conversation, KEPT_DAYS } from "./capture.ts";
import type { Recall } from "./recall.ts";

/** Bytes of a body. */
const MAX_BODY = 8 << 20;
const MAX_PATH = 4_096;
/** Characters of a turn: several memories, where it takes them. */
const MAX_TURN = 1 << 20;
const strict = { additionalProperties: false };
const orNull = (schema: typeof Project, description: string) =>
  Type.Union([schema, Type.Null()], { description });

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

const CaptureRequest = Type.Object(
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
    folder: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_PATH,
        description: "The folder that the agent works in. On the local socket alone.",
        examples: ["/home/sam/atlas"],
      }),
    ),
    kept_days: Type.Optional(
      Type.Union([Type.Integer({ minimum: 1, maximum: 3_650 }), Type.Null()], {
        default: KEPT_DAYS,
        description: "Days after which it is forgotten; `null` for never.",
      }),
    ),
  },
  strict,
);
const Captured = Type.Object({
  captured: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()], {
    description:
      "How many memories are new; `null` where the transcript is read after the answer, and without the scope `memories:read`.",
  }),
});

const RecallBody = Type.Object(
  {
    session_id: Type.Optional(SessionId),
    project: Type.Optional(orNull(Project, "What the conversation is about.")),
    folder: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_PATH,
        description: "The folder that the agent works in. On the local socket alone.",
        examples: ["/home/sam/atlas"],
      }),
    ),
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
      Type.Integer({ minimum: 200, maximum: 100_000, default: 4_000, description: "Of the text." }),
    ),
  },
  strict,
);
const Recalled = Type.Object({
  text: Type.String({ description: "For the agent; empty where nothing is known." }),
});

/** What the hooks of agents call: capturing what is said, and recalling what is known. */
export function createCaptureRoutes({
  capture,
  recall,
  projectOf,
  authorize,
  log,
}: {
  capture: Capture;
  recall: Recall;
  /** The project of a folder of this machine. */
  projectOf: (folder: string) => string | null;
  authorize: Authorize;
  log: Log;
}) {
  const parser =
    (scope: Scope, read: (request: Request) => Promise<unknown>) =>
    async ({ request, server }: Pick<Context, "request" | "server">) => {
      checkQueryString(request);
      await authorize(request, scope);
      server?.timeout(request, 0);
      return read(request);
    };

  return new Elysia({ prefix: "/memories", tags: ["memories"], normalize: false })
    .post(
      "/capture",
      async ({ request, body }) => {
        const principal = await authorize(request, "memories:add");
        checkPlaces(principal, body);
        if ((body.turns === undefined) === (body.transcript === undefined)) {
          throw invalid("turns", "or `transcript` is required, and not both");
        }
        const conversation: Conversation = {
          agent: body.agent,
          session: body.session_id ?? null,
          project: body.project,
          folder: body.folder ?? null,
          keptDays: body.kept_days === undefined ? KEPT_DAYS : body.kept_days,
        };
        const writer = {
          principal,
          stillAllowed: async () => void (await authorize(request, "memories:add")),
        };
        const { transcript } = body;
        if (transcript !== undefined) {
          // An agent waits for its hook.
          capture.transcript(writer, conversation, transcript).then(
            (captured) => log.debug("captured", { agent: body.agent, captured }),
            (error) => log.warn("capture_failed", { agent: body.agent, error }),
          );
          return { captured: null };
        }
        const turns = (body.turns ?? []).map(
          ({ role, content, id, at }): Turn => ({
            ...{ role, text: content, at: at ?? null, folder: null },
            session: conversation.session,
            key: id ?? JSON.stringify([conversation.session, role, content]),
          }),
        );
        const captured = await capture.turns(writer, conversation, turns);
        // Who may not read is not told what is here already.
        return { captured: allows(principal.scopes, "memories:read") ? captured : null };
      },
      {
        parse: parser("memories:add", createBodyReader(CaptureRequest, MAX_BODY)),
        body: CaptureRequest,
        detail: {
          operationId: "captureTurns",
          summary: "Save what was said in a conversation",
          description:
            "Each turn becomes a memory that expires, with secrets masked and `source.via` = `capture`. Turns that are here already change nothing. In searches they come after what was saved and is as good.",
          responses: responses(
            { status: 200, description: "Saved, or to be read.", schema: Captured },
            400,
            413,
            415,
            422,
          ),
        },
      },
    )
    .post(
      "/recall",
      async ({ request, body }) => {
        const principal = await authorize(request, "memories:read");
        checkPlaces(principal, body);
        const { folder } = body;
        const named = principal.bound?.project ?? body.project;
        const project = named === undefined && folder !== undefined ? projectOf(folder) : named;
        return {
          text: await recall.text(principal, {
            project: project ?? null,
            // A repository is known by its name without its owner's.
            name: basename(project ?? folder ?? "") || null,
            session: body.session_id ?? null,
            prompt: body.prompt ?? null,
            isFresh: body.fresh ?? false,
            budget: body.max_characters ?? 4_000,
          }),
        };
      },
      {
        parse: parser("memories:read", createBodyReader(RecallBody, MAX_BODY)),
        body: RecallBody,
        detail: {
          operationId: "recallContext",
          summary: "Recall what is known for a conversation",
          description:
            "What matters for a prompt or to begin with, as a text for an agent: only what is certain enough, and nothing twice in a conversation.",
          responses: responses(
            { status: 200, description: "What is known.", schema: Recalled },
            400,
            413,
            415,
            422,
          ),
        },
      },
    );
}

/** Folders and files are those of the machine: who is elsewhere has no business there. */
function checkPlaces(
  { via }: Principal,
  { transcript, folder }: { transcript?: string; folder?: string },
): void {
  if (via === "local") return;
  if (transcript !== undefined) throw invalid("transcript", "is taken on the local socket alone");
  if (folder !== undefined) throw invalid("folder", "is taken on the local socket alone");
}

function invalid(path: string, message: string) {
  return new AppError("validation_failed", `${path} ${message}.`, {
    details: [{ path: `/${path}`, message }],
  });
}
