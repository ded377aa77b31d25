import { AppError } from "../../errors.ts";
import type { PageStart } from "./filter.ts";
import { MEMORY_ID } from "./memory.ts";

/** The last word of a cursor whose page ends before its position. */
const BACKWARD = "newer";

/** A position of a list as an opaque text for clients. */
export function encodeCursor({ createdAt, id, isBackward }: PageStart): string {
  const direction = isBackward ? ` ${BACKWARD}` : "";
  return Buffer.from(`${createdAt} ${id}${direction}`).toString("base64url");
}

/** @throws AppError `validation_failed` for a text that `encodeCursor` did not return */
export function decodeCursor(cursor: string): PageStart {
  const [time = "", id = "", direction, ...rest] = Buffer.from(cursor, "base64url")
    .toString()
    .split(" ");
  const isBackward = direction === BACKWARD;
  const hasDirection = direction === undefined || isBackward;
  // At most 14 digits: LanceDB fails on times that are far in the future.
  if (!/^\d{1,14}$/.test(time) || !MEMORY_ID.test(id) || !hasDirection || rest.length > 0) {
    throw invalidCursor("must be a next_cursor that this server returned");
  }
  return { createdAt: Number(time), id, isBackward };
}

/** @param problem what a valid cursor must be */
export function invalidCursor(problem: string): AppError {
  return new AppError("validation_failed", `The cursor ${problem}.`, {
    details: [{ path: "/cursor", message: problem }],
  });
}
