/** The beginning of a text, on one line. */
export function excerptOf(text: string, limit: number): string {
  const line = text.replaceAll(/\s+/g, " ").trim();
  // By characters, so that none is cut in two.
  const characters = [...line.slice(0, 2 * limit)];
  return characters.length > limit ? `${characters.slice(0, limit - 1).join("")}…` : line;
}
