/** A text that is built when it is needed. */
export type Text = () => string;

export const MIB = 1 << 20;
export const KIB = 1 << 10;

/** Copies of a text, as many as fit into so many bytes. */
export const fill = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length));

/** Distinct texts of eight characters, joined by commas. */
export function distinct(bytes: number, make: (text: string) => string): string {
  const parts: string[] = [];
  for (let length = 0, n = 0; length < bytes; n++) {
    const part = make(n.toString(36).padStart(8, "k"));
    parts.push(part);
    length += part.length + 1;
  }
  return parts.slice(0, -1).join(",");
}

/** JSON that is expensive to parse or to check, of about so many bytes. */
export const json = (bytes: number): Record<string, Text> => ({
  "open brackets": () => fill("[", bytes),
  "deep lists": () => fill("[", bytes / 2) + fill("]", bytes / 2),
  "deep objects": () => `${fill('{"a":', bytes / 6)}1${fill("}", bytes / 6)}`,
  "empty lists": () => `[${fill("[],", bytes - 4)}0]`,
  "empty objects": () => `[${fill("{},", bytes - 4)}0]`,
  numbers: () => `[${fill("1e9,", bytes - 4)}0]`,
  "one number": () => `[${fill("9", bytes - 2)}]`,
  "distinct names": () => `{${distinct(bytes - 2, (name) => `"${name}":0`)}}`,
  "one name": () => `{${fill('"a":0,', bytes - 8)}"a":0}`,
  escapes: () => `"${fill("\\ud83d\\ude00", bytes - 2)}"`,
  "white space": () => fill(" ", bytes),
});

/** The same texts between two others. */
export const within = (before: string, values: Record<string, Text>, after: string) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      `${name} in ${before}`,
      () => before + value() + after,
    ]),
  );
