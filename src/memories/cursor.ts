import { AppError } from "../errors.ts";
import type { Position } from "./filter.ts";
import { MEMORY_ID } from "./memory.ts";

/** The position of a list as an opaque text for clients. */
export function encodeCursor({ createdAt, id }: Position): string {
  return Buffer.from(`${createdAt} ${id}`).toString("base64url");
}

/** @throws AppError `validation_failed` for a text that `encodeCursor` did not make */
export function decodeCursor(cursor: string): Position {
  const [time = "", id = "", ...rest] = Buffer.from(cursor, "base64url").toString().split(" ");
  // LanceDB fails on times that are not of this era.
  if (!/^\d{1,14}$/.test(time) || !MEMORY_ID.test(id) || rest.length > 0) {
    const message = "must be a next_cursor that this server returned";
    throw new AppError("validation_failed", `The cursor ${message}.`, {
      details: [{ path: "/cursor", message }],
    });
  }
  return { createdAt: Number(time), id };
}
