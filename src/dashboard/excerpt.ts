/** Characters of a memory's title. */
const TITLE = 60;

/** How many characters are read for each of an excerpt, since a text may be long and white space is not shown. */
const READ = 8;

/** The beginning of a text, on one line. */
export function excerptOf(text: string, limit: number): string {
  const start = oneLine(text.slice(0, READ * limit));
  const line = start.length > 2 * limit ? start : oneLine(text);
  // Code points instead of UTF-16 units: a character is never cut in two.
  const characters = [...line.slice(0, 2 * limit)];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim();
}

/** The title by which pages name a memory or another text: its beginning. */
export function titleOf(text: string): string {
  return excerptOf(text, TITLE);
}
