import type { Bound } from "../keys/reach.ts";

/** Names the agent that saves, percent-encoded: the default `agent_id` of a call. */
export const AGENT_HEADER = "ctxd-agent";
/** Names the project that is worked on, percent-encoded. */
export const PROJECT_HEADER = "ctxd-project";
/** Names the conversation, percent-encoded. */
export const SESSION_HEADER = "ctxd-session";
/** The same of clients that know the protocol's own header alone (2025-11-25, Session Management). */
export const PROTOCOL_SESSION_HEADER = "mcp-session-id";
/** On the local socket: the project that whoever asks binds themselves to. */
export const BOUND_HEADER = "ctxd-bound";
/** What ends it where not even the memories of none are to be seen. */
export const ONLY = ";only";

export function encodeBound({ project, only }: Bound): string {
  return encodeURIComponent(project) + (only ? ONLY : "");
}
