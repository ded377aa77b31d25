import { findSecrets, findSecretsInLong } from "./find-secrets.ts";
import type { FoundSecret } from "./pattern.ts";

/**
 * Replaces each secret in a text by `[masked: KIND]`. The surrounding text stays, so that it still says
 * which key or password it is about. Masking a masked text does not change it.
 * @param report receives the kind of each secret, if there are any
 * @param mark returns the replacement of a secret
 */
export function maskSecrets(text: string, report?: Report, mark?: Mark): string {
  return replaceSecrets(text, findSecrets(text), report, mark);
}

/** The same for a text so long that other requests should run in between. */
export async function maskSecretsInLong(text: string, report?: Report): Promise<string> {
  return replaceSecrets(text, await findSecretsInLong(text), report);
}

type Report = (kinds: string[]) => void;
type Mark = (kind: string) => string;

function replaceSecrets(
  text: string,
  found: readonly FoundSecret[],
  report: Report = () => {},
  mark: Mark = (kind) => `[masked: ${kind}]`,
): string {
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
