import { findSecrets } from "./find-secrets.ts";

/**
 * The text with `[masked: KIND]` in the place of each secret. What is around it stays, so that the
 * text still says which key or password it is about. A masked text is masked to itself.
 */
export function maskSecrets(text: string): string {
  let masked = "";
  let at = 0;
  for (const { kind, start, end } of findSecrets(text)) {
    masked += `${text.slice(at, start)}[masked: ${kind}]`;
    at = end;
  }
  return masked + text.slice(at);
}
