/** Whether two texts are the same apart from white space around them. */
export function isSameText(a: string, b: string): boolean {
  return a === b || a.trim() === b.trim();
}
