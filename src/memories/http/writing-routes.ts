import { Type } from "@sinclair/typebox";
import { type Context, Elysia } from "elysia";
import type { Room } from "../../http/load/room.ts";
import { allowLongWork, type Turns } from "../../http/load/turns.ts";
import { ref, responses } from "../../http/openapi.ts";
import { type Authorize, givenUp, type Principal } from "../../http/principal.ts";
import type { RecordEvent } from "../../http/record-event.ts";
import { createBodyReader } from "../../http/requests/body.ts";
import { checkQueryString } from "../../http/requests/validation.ts";
import type { Etags } from "../../http/responses.ts";
import { requireScope } from "../../keys/reach.ts";
import type { Scope } from "../../keys/scopes.ts";
import { createPause } from "../../timing/pause.ts";
import {
  LIMITS,
  MAX_BATCH,
  Memory,
  MemoryChanges,
  NewMemory,
  sourceOf,
  writtenMemory,
} from "../model/memory.ts";
import type { Memories } from "../rules/memories.ts";
import {
  ChangeHeaders,
  CreationHeaders,
  CreationQuery,
  DeletionQuery,
  RemovalQuery,
  SpaceQuery,
  toExactFilter,
} from "./requests.ts";

/** The most bytes of a body. */
const MAX_BODY = 1 << 20;

const Batch = Type.Object(
  { memories: Type.Array(NewMemory, { minItems: 1, maxItems: LIMITS.batch }) },
  { additionalProperties: false },
);
const readBatch = createBodyReader(Batch, MAX_BATCH.bytes, MAX_BATCH.values);
const Created = Type.Object({ memories: Type.Array(ref("SavedMemory")) });
const Id = Memory.properties.id;
export const MemoryPath = Type.Object({ id: Id });
const Deleted = Type.Object({ id: Id, deleted: Type.Literal(true) });
const DeletedMany = Type.Object({ deleted: Type.Integer({ minimum: 0, examples: [3] }) });

const WITHOUT_READING =
  "Without the scope `memories:read` the answer has only `id`, `created_at` and `updated_at`.";
export const ETAG = { ETag: "Identifies this state of the memory, for `If-Match`." };

/** The dependencies of the routes of memories. */
export interface Dependencies {
  etags: Etags;
  memories: Memories;
  authorize: Authorize;
  record: RecordEvent;
  room: Room;
  turns: Pick<Turns, "step">;
}

/** Authorizes a request before anything else of it is looked at. */
export function signedIn(authorize: Authorize, scope: Scope) {
  return async ({ request }: Pick<Context, "request">) => {
    const principal = givenUp(await authorize(request, scope), request);
    checkQueryString(request);
    return { principal, source: sourceOf(principal, "api") };
  };
}

/** Reads a body after the request is authorized, so that nobody else can make the server read one. */
export function createParser(authorize: Authorize, scope: Scope) {
  return (read: (request: Request, principal: Principal) => Promise<unknown>) =>
    async ({ request, server }: Pick<Context, "request" | "server">) => {
      const principal = await authorize(request, scope);
      // Embedding a large batch, or moving 100,000 memories, takes longer than the server keeps an idle
      // connection.
      allowLongWork(request, server);
      return read(request, principal);
    };
}

/** Saving memories. */
export function createSavingRoutes({ memories, authorize, etags, room }: Dependencies) {
  const parser = createParser(authorize, "memories:add");

  return new Elysia({ normalize: false })
    .derive(signedIn(authorize, "memories:add"))
    .mapResponse(({ principal, request, responseValue }) =>
      room.respond(principal, request, responseValue, 201),
    )
    .post(
      "/",
      async ({ principal, source, body, headers, query, set }) => {
        const wantsSimilar = query.similar === "true";
        if (wantsSimilar) requireScope(principal, "memories:read");
        const idempotencyKey = headers["idempotency-key"];
        const { memory, isNew } = await memories.save(principal, body, { source, idempotencyKey });
        set.status = isNew ? 201 : 200;
        set.headers.location = `/api/memories/${memory.id}`;
        set.headers.etag = (await etags.maker())(memory);
        const similar = wantsSimilar ? await memories.similar(principal, memory.id) : null;
        return {
          ...writtenMemory(memory, principal.scopes),
          ...(similar && { similar }),
          ...memories.secrets.warnings(body),
        };
      },
      {
        parse: parser(createBodyReader(NewMemory, MAX_BODY)),
        query: CreationQuery,
        body: NewMemory,
        headers: CreationHeaders,
        detail: {
          operationId: "createMemory",
          summary: "Save a memory",
          description: `When this is answered, the memory is on disk, and every search finds it. If a memory with exactly the same text exists in the same project, it is returned with status 200, and nothing is saved. With \`supersedes\`, the memory that was true before is kept as history, out of searches and lists. This needs \`memories:write\`, and is refused with 409 if another memory supersedes that one already. \`similar=true\` needs \`memories:read\`. ${WITHOUT_READING}`,
          responses: responses(
            {
              status: 201,
              description: "Saved.",
              schema: ref("SavedMemory"),
              headers: { ...ETAG, Location: "The memory's path." },
              or: { status: 200, description: "The memory that has the same text." },
            },
            404,
            409,
            413,
            415,
          ),
        },
      },
    )
    .post(
      "/batch",
      async ({ principal, source, body, headers, set }) => {
        set.status = 201;
        const idempotencyKey = headers["idempotency-key"];
        const pause = createPause();
        const saved = await memories.saveAll(principal, body.memories, { source, idempotencyKey });
        // Writing so much has taken time, and building the answer takes more.
        await pause();
        const answers: object[] = [];
        for (const [place, memory] of saved.entries()) {
          answers.push({
            ...writtenMemory(memory, principal.scopes),
            ...memories.secrets.warnings(body.memories[place] ?? {}),
          });
          await pause();
        }
        return { memories: answers };
      },
      {
        parse: parser((request, principal) =>
          room.receive(principal, request, MAX_BATCH.bytes, readBatch),
        ),
        query: SpaceQuery,
        body: Batch,
        headers: CreationHeaders,
        detail: {
          operationId: "createMemories",
          summary: "Save up to 256 memories, all or none",
          description: `Faster than one request each. A body has at most 8 MiB and 50,000 JSON values; an import may have any length. If one memory is invalid, none is saved. Duplicates are saved too, for example repeated turns of a conversation. ${WITHOUT_READING}`,
          responses: responses(
            {
              status: 201,
              description: "The saved memories, in the given order.",
              schema: Created,
            },
            404,
            409,
            413,
            415,
          ),
        },
      },
    );
}

/** Changing and deleting memories. */
export function createChangeRoutes({ memories, authorize, etags, record }: Dependencies) {
  const parser = createParser(authorize, "memories:write");

  return new Elysia({ normalize: false })
    .derive(signedIn(authorize, "memories:write"))
    .put(
      "/:id",
      async ({ principal, source, params, body, headers, set }) => {
        const ifMatch = headers["if-match"];
        const etagOf = await etags.maker();
        const isExpected = (memory: Memory) =>
          ifMatch === undefined || etags.matches(ifMatch, etagOf(memory));
        const memory = await memories.update(principal, params.id, body, { source, isExpected });
        set.headers.etag = etagOf(memory);
        return { ...writtenMemory(memory, principal.scopes), ...memories.secrets.warnings(body) };
      },
      {
        parse: parser(createBodyReader(MemoryChanges, MAX_BODY)),
        params: MemoryPath,
        query: SpaceQuery,
        body: MemoryChanges,
        headers: ChangeHeaders,
        detail: {
          operationId: "updateMemory",
          summary: "Change a memory",
          description: `Fields that are left out stay as they are. ${WITHOUT_READING}`,
          responses: responses(
            {
              status: 200,
              description: "The changed memory.",
              schema: ref("SavedMemory"),
              headers: ETAG,
            },
            404,
            412,
            413,
            415,
          ),
        },
      },
    )
    .delete(
      "/:id",
      async ({ principal, params, query, request }) => {
        const withHistory = query.history === "true";
        const amount = await memories.remove(principal, params.id, withHistory);
        const { accountId } = principal;
        if (withHistory) record(request, "memories_deleted", { accountId, amount });
        return { id: params.id, deleted: true };
      },
      {
        params: MemoryPath,
        query: RemovalQuery,
        detail: {
          operationId: "deleteMemory",
          summary: "Delete a memory permanently",
          description:
            "Within a minute no file contains it, except backups. The memory that it superseded is then superseded by the one that superseded it, or becomes current again.",
          responses: responses({ status: 200, description: "Deleted.", schema: Deleted }, 404),
        },
      },
    )
    .delete(
      "/",
      async ({ principal, query, request }) => {
        const deleted = await memories.removeMatching(principal, toExactFilter(query));
        record(request, "memories_deleted", { accountId: principal.accountId, amount: deleted });
        return { deleted };
      },
      {
        query: DeletionQuery,
        detail: {
          operationId: "deleteMemories",
          summary: "Delete all memories that match a filter, permanently",
          description:
            "Needs at least one filter. With `source`, one request deletes all that a misled agent or a lost key wrote.",
          responses: responses({
            status: 200,
            description: "The number of deleted memories.",
            schema: DeletedMany,
          }),
        },
      },
    );
}
