/** Names the agent that saves, percent-encoded: the default `agent_id` of a call. */
export const AGENT_HEADER = "ctxd-agent";
