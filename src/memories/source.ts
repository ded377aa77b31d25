import type { MemorySource } from "./memory.ts";

/** What is recorded of who writes: a person's session is the dashboard's, whichever route it takes. */
export function sourceOf(
  { via, credential }: { via: string; credential: Omit<MemorySource, "via"> },
  way: MemorySource["via"],
): MemorySource {
  const { by, id } = credential;
  return { via: via === "session" && way === "api" ? "dashboard" : way, by, id };
}
