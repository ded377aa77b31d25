import { findSecrets } from "./find-secrets.ts";

/**
 * Replaces each secret in a text by `[masked: KIND]`. The surrounding text stays, so that it still says
 * which key or password it is about. Masking a masked text does not change it.
 * @param report receives the kind of each secret, if there are any
 * @param mark returns the replacement of a secret
 */
export function maskSecrets(
  text: string,
  report: (kinds: string[]) => void = () => {},
  mark: (kind: string) => string = (kind) => `[masked: ${kind}]`,
): string {
  const found = findSecrets(text);
  if (found.length === 0) return text;
  report(found.map(({ kind }) => kind));
  let masked = "";
  let at = 0;
  for (const { kind, start, end } of found) {
    masked += `${text.slice(at, start)}${mark(kind)}`;
    at = end;
  }
  return masked + text.slice(at);
}
