/** So many memories, in words. */
export function countOf(count: number): string {
  return count === 1 ? "1 memory" : `${count.toLocaleString("en")} memories`;
}
