/**
 * A text as a terminal may get it: without the control characters by which what others have written
 * (a server elsewhere, names of files) could change what a person sees.
 */
export function printable(text: string): string {
  return text.replaceAll(/(?![\n\t])\p{Cc}/gu, "\uFFFD");
}
