import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Elysia } from "elysia";
import { AppError } from "../../errors.ts";
import { allowLongWork } from "../../http/load/turns.ts";
import { ref, responses } from "../../http/openapi.ts";
import { type Authorize, givenUp } from "../../http/principal.ts";
import { readChunks, requireType } from "../../http/requests/body.ts";
import { checkQueryString, validationError } from "../../http/requests/validation.ts";
import { createPagedStream, partsOf } from "../../http/responses.ts";
import type { Scope } from "../../keys/scopes.ts";
import { readByteLines } from "../../text/lines.ts";
import { isBeyond } from "../../text/parse-json.ts";
import { createPause } from "../../timing/pause.ts";
import { ImportedMemory, ImportReport, type Memory, sourceOf } from "../model/memory.ts";
import type { ImportLine } from "../rules/import/import.ts";
import { ExportQuery, ImportQuery, toFilter } from "./requests.ts";
import type { Dependencies } from "./writing-routes.ts";

/** Newline-delimited JSON: one memory per line. */
export const NDJSON = "application/x-ndjson";
const ACCEPTED = [NDJSON, "application/ndjson", "application/jsonl"];

/** The most bytes of a line: a content of 32,768 escaped characters, and the other fields. */
const MAX_LINE = 1 << 20;

const shape = TypeCompiler.Compile(ImportedMemory);

/** Export and import of all memories, as streams with bounded memory. */
export function createTransferRoutes({ memories, authorize, record, room, turns }: Dependencies) {
  return new Elysia({ normalize: false })
    .get(
      "/export",
      async ({ request, query }) => {
        const principal = await authorize(request, "memories:read");
        checkQueryString(request);
        const { accountId } = principal;
        const exported = await memories.export(principal, toFilter(query));
        const pages = room.hold(principal, request, exported);
        record(request, "memories_exported", { accountId });
        const stillAllowed = recheck(authorize, request, "memories:read", accountId);
        const stream = toStream(pages, stillAllowed, (read) => turns.step(accountId, read));
        return new Response(stream, { headers: { "content-type": NDJSON } });
      },
      {
        query: ExportQuery,
        detail: {
          operationId: "exportMemories",
          summary: "Export all memories",
          description:
            "One memory per line, oldest first. The export has the memories that existed at the request: memories that change meanwhile have their new state, deleted ones are left out. If the connection ends early, the export is incomplete. It ends when the key is revoked.",
          responses: responses({
            status: 200,
            description: "Lines.",
            schema: ref("Memory"),
            contentType: NDJSON,
          }),
        },
      },
    )
    .post(
      "/import",
      async ({ request, query, server }) => {
        const principal = givenUp(await authorize(request, "memories:write"), request);
        const { accountId } = principal;
        checkQueryString(request);
        const dryRun = query.dry_run === "true";
        // Embedding takes longer than the server keeps an idle connection.
        allowLongWork(request, server);
        const report = await memories.import(principal, readLines(request), {
          source: sourceOf(principal, "import"),
          dryRun,
          stillAllowed: recheck(authorize, request, "memories:write", accountId),
        });
        const amount = report.created + report.updated;
        if (!dryRun) record(request, "memories_imported", { accountId, amount });
        return report;
      },
      {
        // The handler reads the body line by line, after the request is authorized.
        parse: () => null,
        query: ImportQuery,
        detail: {
          operationId: "importMemories",
          summary: "Import memories",
          description:
            "One memory per line, as exported; only `content` is required. Ids and times are kept, except that lines of one session with the same time and without an id get times a millisecond apart, in their order. `source` becomes the importing credential. Secrets such as API keys are masked. A line whose id exists is written only if its `updated_at` is newer, so importing a file twice changes nothing. Invalid lines are skipped and reported. Without the scope `memories:read`, `dry_run` is refused, and all lines that change nothing count as `kept`. The body may have any length. Memories are saved while it is read, and stay if it breaks off.",
          requestBody: {
            required: true,
            content: { [NDJSON]: { schema: { $ref: "#/components/schemas/ImportedMemory" } } },
          },
          responses: responses(
            { status: 200, description: "The result.", schema: ImportReport },
            415,
          ),
        },
      },
    );
}

/**
 * Returns a function that authorizes a request again. It also checks that the request still reaches the same account:
 * meanwhile another space may have the name that it chose.
 */
function recheck(authorize: Authorize, request: Request, scope: Scope, accountId: string) {
  return async (): Promise<void> => {
    if ((await authorize(request, scope)).accountId === accountId) return;
    throw new AppError("forbidden", "This request reaches another space now.");
  };
}

/** Does a step of an answer, when the account has its turn. */
type InTurn = <Result>(step: () => Promise<Result>) => Promise<Result>;

/**
 * Pages of memories as lines of JSON.
 * @param stillAllowed called before each page; throws to end the stream
 */
export function toStream(
  pages: AsyncGenerator<Memory[]>,
  stillAllowed: () => Promise<void>,
  inTurn: InTurn,
): ReadableStream<Uint8Array> {
  const readPage = async () => {
    await stillAllowed();
    const { value, done } = await pages.next();
    return done ? null : Buffer.from(value.map((memory) => `${JSON.stringify(memory)}\n`).join(""));
  };
  async function* parts() {
    try {
      for (let page = await inTurn(readPage); page; page = await inTurn(readPage)) {
        yield* partsOf(page);
      }
    } finally {
      await pages.return(undefined);
    }
  }
  return createPagedStream(parts(), (part) => part);
}

/** @throws AppError `unsupported_media_type` */
function readLines(request: Request): AsyncGenerator<ImportLine> {
  requireType(request, ACCEPTED, "have a JSON object a line");
  return parseLines(readChunks(request));
}

/** The memories of a body's lines. */
export async function* parseLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<ImportLine> {
  let number = 0;
  const pause = createPause();
  for await (const { bytes } of readByteLines(body, MAX_LINE)) {
    await pause();
    number++;
    const line = parseLine(bytes);
    if (line !== null) yield { number, ...line };
  }
}

/** Returns null for an empty line. */
function parseLine(bytes: Buffer | null): { memory: ImportedMemory } | { problem: string } | null {
  if (bytes === null) return { problem: `is longer than ${MAX_LINE} bytes` };
  let memory: unknown;
  try {
    // Removes a byte order mark.
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (text.trim() === "") return null;
    if (isBeyond(text)) return { problem: "has more values than a memory may have" };
    memory = JSON.parse(text);
  } catch {
    return { problem: "is not valid JSON in UTF-8" };
  }
  return shape.Check(memory)
    ? { memory }
    : { problem: validationError(shape.Errors(memory)).message };
}
