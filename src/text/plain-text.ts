/**
 * Characters that nobody sees and that change how a text is read or shown: control characters, line and
 * paragraph separators, marks that turn the direction of writing (Trojan Source, CVE-2021-42574), spaces
 * without width. The joiners U+200C and U+200D are not among them: words of Persian and emoji need them.
 */
const HIDDEN =
  "\\p{Cc}\\u2028\\u2029\\u061C\\u200B\\u200E\\u200F\\u202A-\\u202E\\u2060\\u2066-\\u2069\\uFEFF";
const ANY_HIDDEN = new RegExp(`[${HIDDEN}]`, "u");
const ALL_HIDDEN = new RegExp(`[${HIDDEN}]`, "gu");
/** What programs or people take for the end of a line (Unicode, section 5.8). */
const LINE_END = /\r\n|[\n\v\f\r\x85\u2028\u2029]/g;

/** Whether a text has hidden characters. */
export function hasHidden(text: string): boolean {
  return ANY_HIDDEN.test(text);
}

/** A text of one line with its hidden characters as escapes, such as `\u{a}`. */
export function showHidden(text: string): string {
  return text.replaceAll(ALL_HIDDEN, (each) => `\\u{${each.codePointAt(0)?.toString(16)}}`);
}

/** What programs act on in a text that a person sends: `!` before a command, `@` before a file, `$` before an argument. */
const SIGNS = /!(?=[`{])|(?<![\w`])@(?=\S)|\$(?=\d|ARGUMENTS)/g;

/**
 * A text without signs that programs act on: a space follows each. OpenCode runs the commands, attaches the files and
 * fills in the arguments that the prompt of an MCP server names as if the person had written it.
 */
export function breakPromptSyntax(text: string): string {
  return text.replaceAll(SIGNS, "$& ");
}

/** A text whose lines are indented by two spaces. No text can end the indentation. */
export function indent(text: string): string {
  return text
    .split(LINE_END)
    .map((line) => (line === "" ? "" : `  ${line}`))
    .join("\n");
}
