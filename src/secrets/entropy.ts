/** Shannon's entropy of a text, in bits for each character: 0 for one letter repeated. */
export function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  let entropy = 0;
  for (const count of counts.values()) {
    entropy -= (count / text.length) * Math.log2(count / text.length);
  }
  return entropy;
}
