import type { Fields } from "./client.ts";

/** A file format: parses a configuration, and changes one entry without touching the rest. */
export interface Format {
  /**
   * Parses a text.
   * @throws ConnectError whose message is the end of a sentence about the file
   */
  read(text: string): unknown;
  /**
   * Sets an entry in a table of entries, both of which may be new. A null entry is removed. All other
   * characters stay. The result may be wrong for an unusual layout, so the caller parses it again.
   */
  write(text: string, table: string, name: string, entry: Fields | null): string;
}

/** The line break that a text uses. */
export function lineBreakOf(text: string): "\r\n" | "\n" {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** The offset of the next line, or the end of the text. */
export function nextLine(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end < 0 ? text.length : end + 1;
}

/** The text with a line break at its end. */
export function withLastBreak(text: string): string {
  return text === "" || text.endsWith("\n") ? text : text + lineBreakOf(text);
}
