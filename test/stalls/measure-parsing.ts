/** Milliseconds of CPU to parse a megabyte of empty lists on a quiet machine. */
export const PARSING_MS = 12;

/**
 * Milliseconds of CPU to parse a megabyte of empty lists on this machine, at least those of a quiet one: the
 * measure for what a step may take.
 */
export function measureParsing(): number {
  const text = `[${"[],".repeat((1 << 20) / 3)}0]`;
  const before = process.threadCpuUsage();
  JSON.parse(text);
  const { user, system } = process.threadCpuUsage(before);
  return Math.max(PARSING_MS, (user + system) / 1_000);
}
