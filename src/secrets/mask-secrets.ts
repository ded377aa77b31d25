import { findSecrets } from "./find-secrets.ts";

/**
 * The text with `[masked: KIND]` in the place of each secret. What is around it stays, so that the
 * text still says which key or password it is about. A masked text is masked to itself.
 * @param told the kind of each
 * @param mark what takes the place of one
 */
export function maskSecrets(
  text: string,
  told: (kinds: string[]) => void = () => {},
  mark: (kind: string) => string = (kind) => `[masked: ${kind}]`,
): string {
  const found = findSecrets(text);
  if (found.length === 0) return text;
  told(found.map(({ kind }) => kind));
  let masked = "";
  let at = 0;
  for (const { kind, start, end } of found) {
    masked += `${text.slice(at, start)}${mark(kind)}`;
    at = end;
  }
  return masked + text.slice(at);
}
