import { ProtocolError } from "@modelcontextprotocol/server";
import { errorCode } from "../../errors.ts";
import type { Log } from "../../log.ts";
import { explainError, type Session } from "../tool.ts";

/** JSON-RPC error codes. */
const INVALID_PARAMS = -32_602;
const INTERNAL_ERROR = -32_603;

/**
 * Does the work of a resource or a prompt in its turn.
 * @throws ProtocolError with an explanation for a model
 */
export async function withProtocolErrors<Result>(
  session: Pick<Session, "inTurn">,
  log: Log,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await session.inTurn(work);
  } catch (error) {
    const isNotFound = errorCode(error) === "memory_not_found";
    const code = isNotFound ? INVALID_PARAMS : INTERNAL_ERROR;
    throw new ProtocolError(code, explainError(error, log));
  }
}
