import type { SourceMemory } from "../format.ts";
import type { Turn } from "./turn.ts";

/** What a memory of a turn begins with. */
export const SPEAKERS = { user: "User", assistant: "Assistant" } as const;

/**
 * A turn as a memory, which begins with who said it. Its key belongs to the agent as its origin, so that
 * what was captured and is imported later is the same memory.
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
