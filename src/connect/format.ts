import type { Fields } from "./client.ts";

/** A way to write configuration: reads it, and changes one entry without touching the rest. */
export interface Format {
  /**
   * What a text says.
   * @throws ConnectError that says what is wrong, as the end of a sentence
   */
  read(text: string): unknown;
  /**
   * A text with this entry in a table of entries, both of which may be new; null takes the entry
   * out. All else stays character by character. The text may come back wrong where it is written in
   * an unusual way: the caller reads it again.
   */
  write(text: string, table: string, name: string, entry: Fields | null): string;
}

/** The line break that a text uses. */
export function lineBreakOf(text: string): "\r\n" | "\n" {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** Where the line after that of an offset begins, or the text ends. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** A text whose last line has ended. */
export function withLastBreak(text: string): string {
  return text === "" || text.endsWith("\n") ? text : text + lineBreakOf(text);
}
