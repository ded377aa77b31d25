import type { SourceMemory } from "../format.ts";
import type { Turn } from "./turn.ts";

/** The first word of a turn's memory. */
export const SPEAKERS = { user: "User", assistant: "Assistant" } as const;

/**
 * A turn as a memory that begins with its speaker. The agent is the origin of its key, so that a turn
 * that was captured and is imported later remains one memory.
 */
export function turnMemory(agent: string, turn: Turn): SourceMemory {
  return {
    content: `${SPEAKERS[turn.role]}: ${turn.text}`,
    key: turn.key,
    agent,
    session: turn.session,
    createdAt: turn.at,
    metadata: { role: turn.role },
  };
}
