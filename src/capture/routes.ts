import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { type Context, Elysia } from "elysia";
import { AppError, invalidField } from "../errors.ts";
import { allowLongWork } from "../http/load/turns.ts";
import { responses } from "../http/openapi.ts";
import type { Authorize, Principal } from "../http/principal.ts";
import { createBodyReader } from "../http/requests/body.ts";
import { checkQueryString } from "../http/requests/validation.ts";
import type { ProjectOf } from "../import/transcripts/folders.ts";
import { allows, type Scope } from "../keys/scopes.ts";
import type { Log } from "../log.ts";
import type { Capture } from "./capture.ts";
import type { Recall } from "./recall.ts";
import { RECALL_CHARACTERS } from "./recall-text.ts";
import { Captured, CaptureRequest, Recalled, RecallRequest, turnsOf } from "./requests.ts";

const MAX_BODY_BYTES = 8 << 20;
/** Agents that write the end of a turn, or the first line of all, after its hook, and may run no other one. */
const LATE_WRITERS: readonly string[] = ["copilot-cli"];
/** Milliseconds after which their transcripts are looked at again, one after the other: a busy machine takes longer. */
const LATE_LOOKS_MS: readonly number[] = [2_000, 5_000, 15_000];

/** The endpoints that hooks of agents call: to capture turns, and to recall memories. */
export function createCaptureRoutes({
  capture,
  recall,
  projectOf,
  authorize,
  log,
}: {
  capture: Capture;
  recall: Recall;
  /** The project of a folder on this machine. */
  projectOf: ProjectOf;
  authorize: Authorize;
  log: Log;
}) {
  const readTranscript: Capture["transcript"] = async (caller, conversation, path) => {
    if (!LATE_WRITERS.includes(conversation.agent)) {
      return await capture.transcript(caller, conversation, path);
    }
    let captured = 0;
    let before: number | undefined;
    for (const wait of [0, ...LATE_LOOKS_MS]) {
      await Bun.sleep(wait);
      const size = (await stat(path).catch(() => null))?.size;
      if (size === before) continue;
      before = size;
      captured += await capture.transcript(caller, conversation, path);
    }
    // A file that was never there fails, so that the log says so.
    return before === undefined ? await capture.transcript(caller, conversation, path) : captured;
  };
  const parser =
    (scope: Scope, read: (request: Request) => Promise<unknown>) =>
    async ({ request, server }: Pick<Context, "request" | "server">) => {
      checkQueryString(request);
      await authorize(request, scope);
      allowLongWork(request, server);
      return read(request);
    };

  return new Elysia({ prefix: "/memories", tags: ["memories"], normalize: false })
    .post(
      "/capture",
      async ({ request, body }) => {
        const principal = await authorize(request, "memories:add");
        checkPersonal(principal);
        checkPaths(principal, body);
        if ((body.turns === undefined) === (body.transcript === undefined)) {
          throw invalidField("turns", "or `transcript` is required, but not both");
        }
        const caller = {
          principal,
          stillAllowed: async () => void (await authorize(request, "memories:add")),
        };
        const { transcript, turns: _, ...conversation } = body;
        if (transcript !== undefined) {
          // The agent waits for its hook, so the response does not wait for the transcript.
          readTranscript(caller, conversation, transcript).then(
            (captured) => log.debug("captured", { agent: body.agent, captured }),
            (error) => log.warn("capture_failed", { agent: body.agent, error }),
          );
          return { captured: null };
        }
        const captured = await capture.turns(caller, conversation, turnsOf(body));
        // The number would reveal which memories exist.
        return { captured: allows(principal.scopes, "memories:read") ? captured : null };
      },
      {
        parse: parser("memories:add", createBodyReader(CaptureRequest, MAX_BODY_BYTES)),
        body: CaptureRequest,
        detail: {
          operationId: "captureTurns",
          summary: "Save the turns of a conversation",
          description:
            "Each turn becomes a memory that expires, with secrets masked and `source.via` = `capture`. Turns that exist already change nothing. In searches, captured turns rank below saved memories that match equally well.",
          responses: responses(
            {
              status: 200,
              description: "Turns saved, or transcript accepted for reading.",
              schema: Captured,
            },
            413,
            415,
          ),
        },
      },
    )
    .post(
      "/recall",
      async ({ request, body }) => {
        const principal = await authorize(request, "memories:read");
        checkPaths(principal, body);
        const { folder } = body;
        const named = principal.bound?.project ?? body.project;
        const project =
          named === undefined && folder !== undefined ? await projectOf(folder) : named;
        return {
          text: await recall.text(principal, {
            project: project ?? null,
            // People call a repository by its name without the owner.
            name: basename(project ?? folder ?? "") || null,
            session: body.session_id ?? null,
            prompt: body.prompt ?? null,
            isFresh: body.fresh ?? false,
            budget: body.max_characters ?? RECALL_CHARACTERS.default,
            explains: body.explain ?? false,
          }),
        };
      },
      {
        parse: parser("memories:read", createBodyReader(RecallRequest, MAX_BODY_BYTES)),
        body: RecallRequest,
        detail: {
          operationId: "recallContext",
          summary: "Recall memories for a conversation",
          description:
            "Returns the memories that matter for a prompt, or for the beginning of a conversation, as a text for an agent. It contains only memories above the score floor, and none twice in a conversation.",
          responses: responses(
            { status: 200, description: "The recalled text.", schema: Recalled },
            413,
            415,
          ),
        },
      },
    );
}

/** What people say to their agents is nobody else's. */
function checkPersonal({ space }: Principal): void {
  if (!space) return;
  const message =
    "Captured turns are personal, and this request is for a space: send it without one, with a key of your own.";
  throw new AppError("forbidden", message);
}

/** Paths refer to this machine, so only callers on the local socket may send them. */
function checkPaths(
  { via }: Principal,
  { transcript, folder }: { transcript?: string; folder?: string },
): void {
  if (via === "local") return;
  if (transcript !== undefined)
    throw invalidField("transcript", "is accepted on the local socket only");
  if (folder !== undefined) throw invalidField("folder", "is accepted on the local socket only");
}
