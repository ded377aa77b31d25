import type { Bound } from "../keys/reach.ts";

/** The agent that saves, percent-encoded: the default `agent_id` of a call. */
export const AGENT_HEADER = "ctxd-agent";
/** The current project, percent-encoded. */
export const PROJECT_HEADER = "ctxd-project";
/** The conversation, percent-encoded. */
export const SESSION_HEADER = "ctxd-session";
/** The protocol's own session header (2025-11-25, Session Management), for clients that know no other. */
export const PROTOCOL_SESSION_HEADER = "mcp-session-id";
/** On the local socket only: the project to which the client limits itself. */
export const BOUND_HEADER = "ctxd-bound";
/** Suffix of `BOUND_HEADER`: memories without a project are hidden too. */
export const ONLY = ";only";

export function encodeBound({ project, only }: Bound): string {
  return encodeURIComponent(project) + (only ? ONLY : "");
}
