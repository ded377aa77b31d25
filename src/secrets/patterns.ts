import { ASSIGNED_PATTERNS } from "./assigned-patterns.ts";
import gitleaks from "./gitleaks.json";
import { OWN_PATTERNS } from "./own-patterns.ts";
import type { Expression, Pattern } from "./pattern.ts";

/** Found by what is before it only: any kind that is known by its own shape says more. */
const GENERIC = new Set(["generic-api-key", "password"]);

const [generic, specific] = partition([
  ...OWN_PATTERNS,
  ...(gitleaks.patterns as readonly Pattern[]),
  ...ASSIGNED_PATTERNS,
]);

/** All patterns. Of two that find the same text, the first one names it. */
export const PATTERNS: readonly Pattern[] = [...specific, ...generic];

/** What stands in a text where a secret would, such as the name of a variable. */
export const PLACEHOLDERS: readonly Expression[] = [
  ...gitleaks.placeholders,
  {
    source: "(?:example|sample|placeholder|redacted|your[-_]|changeme|xxxxx|\\*{3}|\\.{3})",
    flags: "i",
  },
];

function partition(patterns: readonly Pattern[]): [Pattern[], Pattern[]] {
  return [
    patterns.filter(({ kind }) => GENERIC.has(kind)),
    patterns.filter(({ kind }) => !GENERIC.has(kind)),
  ];
}
