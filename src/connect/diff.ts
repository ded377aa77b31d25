/** Number of unchanged lines shown before and after a change. */
const CONTEXT_LINES = 3;
/** Maximum characters shown of a line. */
const MAX_WIDTH = 160;
const API_KEY = /ctx_[0-9A-Za-z]{8,}/g;

/**
 * Describes the change between two texts that differ in one place, as lines that begin with `-`, `+` or a
 * space. Keys are shortened.
 */
export function describeChange(before: string, after: string): string {
  const [old, now] = [linesOf(before), linesOf(after)];
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start++;
  let same = 0;
  while (same < shorter - start && old.at(-1 - same) === now.at(-1 - same)) same++;
  const [oldEnd, nowEnd] = [old.length - same, now.length - same];
  return [
    ...old.slice(Math.max(0, start - CONTEXT_LINES), start).map((line) => `  ${line}`),
    ...old.slice(start, oldEnd).map((line) => `- ${line}`),
    ...now.slice(start, nowEnd).map((line) => `+ ${line}`),
    ...old.slice(oldEnd, oldEnd + CONTEXT_LINES).map((line) => `  ${line}`),
  ]
    .map((line) => hideKeys(line.length > MAX_WIDTH ? `${line.slice(0, MAX_WIDTH)}…` : line))
    .join("\n");
}

/** Shortens all API keys in a text to their first characters. */
export function hideKeys(text: string): string {
  return text.replaceAll(API_KEY, (key) => `${key.slice(0, 8)}…`);
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
