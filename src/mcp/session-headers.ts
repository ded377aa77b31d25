import type { TSchema } from "@sinclair/typebox";
import { AppError } from "../errors.ts";
import type { Bound } from "../keys/reach.ts";
import { AgentId, Project, SessionId } from "../memories/model/memory.ts";
import { problemOf } from "../text/input-kinds.ts";
import {
  AGENT_HEADER,
  BOUND_HEADER,
  ONLY,
  PROJECT_HEADER,
  PROTOCOL_SESSION_HEADER,
  SESSION_HEADER,
} from "./http-message.ts";

/**
 * Reads the agent, project and conversation from the headers of a message.
 * @throws AppError `malformed_request`
 */
export function readSessionHeaders(headers: Headers) {
  const own = decode(headers, SESSION_HEADER, SessionId);
  const protocolSession = headers.get(PROTOCOL_SESSION_HEADER);
  const isUsable = protocolSession !== null && problemOf(SessionId, protocolSession) === null;
  return {
    agentId: decode(headers, AGENT_HEADER, AgentId),
    project: decode(headers, PROJECT_HEADER, Project),
    sessionId: own ?? (isUsable ? protocolSession : null),
  };
}

/**
 * The project to which a client on the local socket limits itself; null for none.
 * @throws AppError `malformed_request`
 */
export function readBound(headers: Headers): Bound | null {
  const header = headers.get(BOUND_HEADER);
  if (header === null) return null;
  const only = header.endsWith(ONLY);
  const name = only ? header.slice(0, -ONLY.length) : header;
  return { project: decodeName(name, BOUND_HEADER, Project), only };
}

function decode(headers: Headers, name: string, schema: TSchema): string | null {
  const header = headers.get(name);
  return header ? decodeName(header, name, schema) : null;
}

function decodeName(encoded: string, header: string, schema: TSchema): string {
  let name: string;
  try {
    name = decodeURIComponent(encoded);
  } catch (cause) {
    throw new AppError("malformed_request", `${header} must be percent-encoded.`, { cause });
  }
  const problem = problemOf(schema, name);
  if (problem === null) return name;
  throw new AppError("malformed_request", `${header} ${problem}.`);
}
