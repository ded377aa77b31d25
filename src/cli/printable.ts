/**
 * Makes a text safe for a terminal. Text from a remote server, or a file's name, may contain control
 * characters that change what the terminal shows.
 */
export function printable(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, "\uFFFD");
}
