import type { TSchema } from "@sinclair/typebox";
import { AppError } from "../errors.ts";
import type { Bound } from "../keys/reach.ts";
import { AgentId, Project, SessionId } from "../memories/memory.ts";
import { problemOf } from "../schema.ts";

/** Names the agent that saves, percent-encoded: the default `agent_id` of a call. */
export const AGENT_HEADER = "ctxd-agent";
/** Names the project that is worked on, percent-encoded. */
export const PROJECT_HEADER = "ctxd-project";
/** Names the conversation, percent-encoded. */
export const SESSION_HEADER = "ctxd-session";
/** The same of clients that know the protocol's own header alone (2025-11-25, Session Management). */
const PROTOCOL_SESSION_HEADER = "mcp-session-id";
/** On the local socket: the project that whoever asks binds themselves to. */
export const BOUND_HEADER = "ctxd-bound";
const ONLY = ";only";

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

export function encodeBound({ project, only }: Bound): string {
  return encodeURIComponent(project) + (only ? ONLY : "");
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
