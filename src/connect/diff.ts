/** Number of unchanged lines shown before and after a change. */
const CONTEXT_LINES = 3;
/** Maximum characters shown of an unchanged line. */
const MAX_WIDTH = 160;
/** Maximum characters shown of a changed line: the longest commands fit in it. */
const MAX_CHANGED_WIDTH = 2_000;
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
    ...shown("  ", old.slice(Math.max(0, start - CONTEXT_LINES), start), MAX_WIDTH),
    ...shown("- ", old.slice(start, oldEnd), MAX_CHANGED_WIDTH),
    ...shown("+ ", now.slice(start, nowEnd), MAX_CHANGED_WIDTH),
    ...shown("  ", old.slice(oldEnd, oldEnd + CONTEXT_LINES), MAX_WIDTH),
  ].join("\n");
}

function shown(mark: string, lines: readonly string[], width: number): string[] {
  return lines.map((line) =>
    hideKeys(mark + (line.length > width ? `${line.slice(0, width)}…` : line)),
  );
}

/** Shortens all API keys in a text to their first characters. */
export function hideKeys(text: string): string {
  return text.replaceAll(API_KEY, (key) => `${key.slice(0, 8)}…`);
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/);
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
