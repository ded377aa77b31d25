import { ASSIGNED_PATTERNS } from "./assigned-patterns.ts";
import gitleaks from "./gitleaks.json";
import { OWN_PATTERNS } from "./own-patterns.ts";
import type { Expression, Pattern } from "./pattern.ts";

/** Kinds that only the words before a secret identify. A kind with its own form is more precise. */
const GENERIC = new Set(["generic-api-key", "password"]);

const [generic, specific] = partition([
  ...OWN_PATTERNS,
  ...(gitleaks.patterns as readonly Pattern[]),
  ...ASSIGNED_PATTERNS,
]);

/** All patterns. When two find the same text, the first one names the kind. */
export const PATTERNS: readonly Pattern[] = [...specific, ...generic];

/** Texts in the place of a secret that are none, such as the name of a variable. */
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
