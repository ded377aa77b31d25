/** Control characters, and marks that turn the direction of writing. They change what a terminal shows. */
export const UNPRINTABLE =
  /(?![\n\t])[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu;

/** Makes a text safe for a terminal, as one from a remote server or a file's name may not be. */
export function printable(text: string): string {
  return text.replaceAll(UNPRINTABLE, "\uFFFD");
}
