import gitleaks from "./gitleaks.json";
import { type Expression, OWN_PATTERNS, type Pattern } from "./own-patterns.ts";

/** Texts in the place of a password that are none: a variable, a call, a path, a placeholder. */
const NOT_A_PASSWORD = [
  "^[$<{%*@#]",
  String.raw`[(){}[\]]`,
  String.raw`^[\w$]+(?:\.[\w$]+)+$`,
  String.raw`^(?:\.{0,2}|~)/`,
  "^[a-z]{1,20}://",
  "^(?:your|my|the|some|new|old|change|example|sample|dummy|placeholder|redacted|masked|hidden)",
  "^(?:x{3,}|\\*+|\\.+|-+|_+)$",
  "^(?:[a-z]+|[0-9]+)(?:[-_.][a-z]+|[-_.][0-9]+)*$",
  "^(?:sha|md|aes|rsa|utf|base|bcrypt|argon|pbkdf|scrypt|hs|rs|es)-?[0-9]",
].map((source) => ({ source, flags: "i" }));

const PASSWORD_WORDS =
  "pass(?:word|wd|phrase|code)|pwd|passwort|kennwort|mot de passe|contrase\u00f1a|senha|\u043f\u0430\u0440\u043e\u043b\u044c|\u5bc6\u7801|\u5bc6\u78bc|\u30d1\u30b9\u30ef\u30fc\u30c9";

const PASSWORD_KEYWORDS =
  "password|passwd|passphrase|passcode|pwd|passwort|kennwort|mot de passe|contrase\u00f1a|senha|\u043f\u0430\u0440\u043e\u043b\u044c|\u5bc6\u7801|\u5bc6\u78bc|\u30d1\u30b9\u30ef\u30fc\u30c9".split(
    "|",
  );

/** Words between the name of a secret and the secret, such as "for the router". */
const OF_WHAT = String.raw`(?:\s(?:for|of|to|on|at|f\u00fcr|de|del|du)\s[^\n:="]{1,60}?)?`;

/**
 * Secrets without a recognizable form. The words before them identify them: in code, in settings and in
 * sentences.
 */
const NAMED_SECRET_PATTERNS: readonly Pattern[] = [
  {
    kind: "password",
    keywords: PASSWORD_KEYWORDS,
    source: String.raw`(?:${PASSWORD_WORDS})s?["'\x60*]{0,3}${OF_WHAT}\s{0,3}(?:=>|:=|[=:\uff1a])\s{0,3}["'\x60*]{0,3}(?=[^\s"'\x60]{0,127}[0-9!@#$%^&*+?~])([^\s"'\x60<>,;]{6,128})`,
    flags: "i",
    entropy: 2.2,
    harmless: NOT_A_PASSWORD,
  },
  {
    kind: "password",
    keywords: PASSWORD_KEYWORDS,
    source: String.raw`(?:[Pp]ass(?:word|wd|phrase|code)|PASSWORD|[Pp]asswort|[Kk]ennwort|[Mm]ot de passe|[Cc]ontrase\u00f1a|[Ss]enha|[Пп]ароль|\u5bc6\u7801|\u5bc6\u78bc|\u30d1\u30b9\u30ef\u30fc\u30c9)${OF_WHAT}\s?(?:\b(?:is|was|ist|est|es|\u00e9)\b|\u662f|\u306f|\u2014|-)\s{0,3}(?:(?:now|still|set to)\s)?["'\x60*\u201c\u300c]{0,3}(?=[^\s"'\x60]{0,127}[0-9])(?=[^\s"'\x60]{0,127}(?:[!@#$%^&*+?~]|[a-z0-9][A-Z]|[A-Z][a-z]))([^\s"'\x60<>,;\u201d\u300d\u3002]{6,128})`,
    flags: "",
    entropy: 2.2,
    harmless: NOT_A_PASSWORD,
  },
  {
    kind: "generic-api-key",
    keywords: ["key", "token", "secret"],
    source: String.raw`(?:api|app|access|auth|secret|private|signing|encryption|license|client|admin)[_ .-]?(?:key|token|secret)["'\x60]?\s{0,3}(?:=>|:=|[=:\uff1a])\s{0,3}["'\x60]?([a-f0-9]{32,128})(?![A-Za-z0-9])`,
    flags: "i",
    entropy: 2.8,
  },
  {
    kind: "generic-api-key",
    keywords: ["key", "secret", "token", "credential"],
    source: String.raw`\b(?:(?:api|access|secret|private|signing|encryption|auth|license)[ _-]?key|secret|token|credential)s?${OF_WHAT}\s(?:is|was|ist|est|es)\s{1,3}(?:(?:now|still|set to)\s)?["'\x60*\u201c]{0,3}(?=[A-Za-z_+/=.-]{0,199}[0-9])(?=[0-9_+/=.-]{0,199}[A-Za-z])([A-Za-z0-9_+/=.-]{16,200})`,
    flags: "i",
    entropy: 3.5,
    harmless: [
      { source: String.raw`^[\w$]+(?:\.[\w$]+)+$|^[a-z]+(?:[-_./][a-z0-9]+)*$`, flags: "i" },
    ],
  },
];

/** Default passwords and placeholders in URLs, which everybody knows. */
export const COMMON_PASSWORDS =
  /^(?:pass(?:w(?:or)?d)?|pwd|secret|token|user(?:name)?|admin|root|test|guest|example|changeme|change-?it|foobar|x+|\*+|\.+|your[-_]?\w{0,30}|<.*>?|\$.*|\{.*|%[A-Z_]+%|\[.*)$/i;

/** Kinds that only the words before a secret identify. A kind with its own form is more precise. */
const GENERIC = new Set(["generic-api-key", "password"]);

/** All patterns. When two find the same text, the first one names the kind. */
export const PATTERNS: readonly Pattern[] = [
  ...OWN_PATTERNS,
  ...(gitleaks.patterns as readonly Pattern[]),
  ...NAMED_SECRET_PATTERNS,
].sort((a, b) => Number(GENERIC.has(a.kind)) - Number(GENERIC.has(b.kind)));

/** Texts in the place of a secret that are none, such as the name of a variable. */
export const PLACEHOLDERS: readonly Expression[] = [
  ...gitleaks.placeholders,
  {
    source: "(?:example|sample|placeholder|redacted|your[-_]|changeme|xxxxx|\\*{3}|\\.{3})",
    flags: "i",
  },
];
