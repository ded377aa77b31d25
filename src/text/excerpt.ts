/** Characters of a memory's title. */
const TITLE = 60;

/** How many characters are read for each of an excerpt, since a text may be long and white space is not shown. */
const READ = 8;

/** The beginning of a text, on one line: at most `limit` characters, with `…` at the end where it goes on. */
export function excerptOf(text: string, limit: number): string {
  // Code points instead of UTF-16 units: a character is never cut in two. Each has at most two units.
  const units = 2 * (limit + 1);
  const start = oneLine(text.slice(0, READ * units));
  const line = start.length > units ? start : oneLine(text);
  const characters = [...line.slice(0, units)];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** The title by which pages name a memory or another text: its beginning. */
export function titleOf(text: string): string {
  return excerptOf(text, TITLE);
}
