import type { MemorySource } from "./memory.ts";

/**
 * The source to record for a write. Writes in a person's session count as the dashboard's, whatever route
 * they use.
 */
export function sourceOf(
  { via, credential }: { via: string; credential: Omit<MemorySource, "via"> },
  way: MemorySource["via"],
): MemorySource {
  const { by, id } = credential;
  return { via: via === "session" && way === "api" ? "dashboard" : way, by, id };
}
