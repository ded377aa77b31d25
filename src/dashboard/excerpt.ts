/** Characters of a memory's title. */
const TITLE = 60;

/** The beginning of a text, on one line. */
export function excerptOf(text: string, limit: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  // Code points instead of UTF-16 units: a character is never cut in two.
  const characters = [...line.slice(0, 2 * limit)];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
}

/** The title by which pages name a memory or another text: its beginning. */
export function titleOf(text: string): string {
  return excerptOf(text, TITLE);
}
