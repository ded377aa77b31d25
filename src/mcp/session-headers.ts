import type { TSchema } from "@sinclair/typebox";
import { AppError } from "../errors.ts";
import { problemOf } from "../input-kinds.ts";
import type { Bound } from "../keys/reach.ts";
import { AgentId, Project, SessionId } from "../memories/memory.ts";
import {
  AGENT_HEADER,
  BOUND_HEADER,
  ONLY,
  PROJECT_HEADER,
  PROTOCOL_SESSION_HEADER,
  SESSION_HEADER,
} from "./header-names.ts";

/**
 * What the headers of a message say of whom it comes from.
 * @throws AppError `malformed_request`
 */
export function readSessionHeaders(headers: Headers) {
  const own = decode(headers, SESSION_HEADER, SessionId);
  const protocols = headers.get(PROTOCOL_SESSION_HEADER);
  const isUsable = protocols !== null && problemOf(SessionId, protocols) === null;
  return {
    agentId: decode(headers, AGENT_HEADER, AgentId),
    project: decode(headers, PROJECT_HEADER, Project),
    sessionId: own ?? (isUsable ? protocols : null),
  };
}

/** @throws AppError `malformed_request` */
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
