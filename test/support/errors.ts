import { expect } from "bun:test";
import type { ErrorCode } from "../../src/errors.ts";
import type { Answer } from "./client.ts";

/** Expects an answer to be this error, of the shape that every error has. */
export function expectError(
  { status, body }: Pick<Answer, "status" | "body">,
  wanted: { status: number; code: ErrorCode; path?: string },
) {
  expect(body).toEqual({
    error: {
      code: wanted.code,
      message: expect.stringMatching(/^[^\n]{10,500}\.$/),
      ...(wanted.path !== undefined && {
        details: expect.arrayContaining([
          { path: wanted.path, message: expect.stringMatching(/^[^\n]{2,300}$/) },
        ]),
      }),
    },
  });
  expect(status).toBe(wanted.status);
}

/** Expects 422, with a problem at this path. */
export function expectInvalid(answer: Answer, path: string) {
  expectError(answer, { status: 422, code: "validation_failed", path });
}
