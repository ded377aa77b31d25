import { type TSchema, Type } from "@sinclair/typebox";
import type { ErrorCode } from "../errors.ts";

/** The body of every error. */
export const ErrorBody = Type.Object({
  error: Type.Object({
    code: Type.String({ examples: ["validation_failed"] }),
    message: Type.String({ description: "What is wrong and what to do." }),
    details: Type.Optional(
      Type.Array(
        Type.Object({
          path: Type.String({ description: "JSON pointer to the field.", examples: ["/content"] }),
          message: Type.String({ examples: ["is required"] }),
        }),
      ),
    ),
    id: Type.Optional(
      Type.String({ description: "With `internal`: the error's name in the server's log." }),
    ),
  }),
});

/** A schema that the document defines once, by name. */
export function ref(
  name: "Error" | "FoundMemory" | "Health" | "Life" | "Memory" | "SavedMemory" | "Stats",
) {
  return Type.Unsafe({ $ref: `#/components/schemas/${name}` });
}

const ERRORS: Record<number, { description: string; code: ErrorCode; message: string }> = {
  400: {
    description: "The request or its JSON is malformed.",
    code: "malformed_json",
    message: "The body is not valid JSON in UTF-8.",
  },
  401: {
    description: "The API key is missing, malformed, unknown, revoked or expired.",
    code: "unauthorized",
    message: "The API key is unknown, revoked or expired.",
  },
  403: {
    description: "The key lacks the scope, or the request came over plain HTTP.",
    code: "forbidden",
    message: "This key lacks the scope memories:write.",
  },
  404: {
    description: "No such memory in this account.",
    code: "memory_not_found",
    message: "No memory with id mem_0197f2c4e0b47c3a9a1d5b8e2f60c711 in this account.",
  },
  409: {
    description:
      "The memory of the `Idempotency-Key` is deleted, the memory to supersede is superseded already, or the account's quota is used up.",
    code: "conflict",
    message: "What this Idempotency-Key made has been deleted or has expired since.",
  },
  412: {
    description: "The memory is no longer the one that `If-Match` names.",
    code: "precondition_failed",
    message: "The memory has changed since. Read it again, then decide.",
  },
  413: {
    description: "The body is larger than allowed.",
    code: "too_large",
    message: "The body is larger than the 1048576 bytes allowed here.",
  },
  415: {
    description: "The body does not have the required type.",
    code: "unsupported_media_type",
    message: "The body must be JSON: send it with `Content-Type: application/json`.",
  },
  422: {
    description: "A field or parameter breaks a rule; `details` names it.",
    code: "validation_failed",
    message: "content is required.",
  },
  429: {
    description: "Too many requests; `Retry-After` says when to try again.",
    code: "rate_limited",
    message: "Too many requests. Try again in 1 s.",
  },
  500: {
    description: "Something went wrong on the server; its log has the details under `id`.",
    code: "internal",
    message: "Something went wrong on the server. Its log has the details.",
  },
  503: {
    description: "The server can't do it right now; `Retry-After` says when to try again.",
    code: "unavailable",
    message: "Too many writes are waiting. Try again in a moment.",
  },
};

interface Success {
  status: number;
  description: string;
  schema: TSchema;
  /** By default JSON. */
  contentType?: string;
  headers?: Record<string, string>;
  /** Another status with the same answer, and its condition. */
  or?: { status: number; description: string };
}

/** The `responses` of an operation: its success, its own errors, and the errors of every operation. */
export function responses(success: Success, ...errors: (keyof typeof ERRORS)[]) {
  const all = [400, 401, 403, ...errors, 422, 429, 500, 503].sort();
  const answers = [success, ...(success.or ? [success.or] : [])];
  return Object.fromEntries([
    ...answers.map(({ status, description }) => [
      status,
      {
        description,
        content: { [success.contentType ?? "application/json"]: { schema: success.schema } },
        ...describeHeaders(success.headers),
      },
    ]),
    ...all.map((status) => [status, errorDescription(status)]),
  ]);
}

const ERROR_HEADERS: Record<number, Record<string, string>> = {
  401: { "WWW-Authenticate": "How to authenticate: `Bearer`." },
  429: { "Retry-After": "Seconds after which the same request may succeed." },
  503: { "Retry-After": "Seconds after which the same request may succeed." },
};

function describeHeaders(descriptions: Record<string, string> | undefined) {
  if (descriptions === undefined) return {};
  const headers = Object.entries(descriptions).map(([name, description]) => [
    name,
    { description, schema: { type: "string" as const } },
  ]);
  return { headers: Object.fromEntries(headers) };
}

/** The description of an error. */
export function errorDescription(status: keyof typeof ERRORS) {
  const error = ERRORS[status];
  if (!error) throw new RangeError(`no description of status ${status}`);
  const { description, code, message } = error;
  return {
    description,
    ...describeHeaders(ERROR_HEADERS[status]),
    content: {
      "application/json": {
        schema: ref("Error"),
        example: { error: { code, message } },
      },
    },
  };
}
