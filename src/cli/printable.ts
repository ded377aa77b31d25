/**
 * Makes a text safe for a terminal. Text from a remote server, or a file's name, may contain control
 * characters, and marks that turn the direction of writing, that change what the terminal shows.
 */
export function printable(text: string): string {
  return text.replaceAll(
    /(?![\n\t])[\p{Cc}\u2028\u2029\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/gu,
    "\uFFFD",
  );
}
