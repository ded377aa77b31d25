import { AppError } from "../errors.ts";
import COMMON from "./common-passwords.txt" with { type: "text" };
import { hasAllowedLength, PASSWORD_LENGTH } from "./password.ts";

/** What somebody who knows the program tries. */
const PROGRAM = "ctxd";
/** Letters of a part of an address that counts. */
const MIN_WORD = 3;

/**
 * Checks a password that somebody is to have from now on: its length, and that it is not one of those
 * that are tried first. No rules of composition (NIST SP 800-63B, section 3.1.1.2).
 * @param email of the account
 * @throws AppError `validation_failed`
 */
export function checkPassword(password: string, email: string): void {
  const message = explainWeakness(password, email);
  if (message === null) return;
  throw new AppError("validation_failed", message, { details: [{ path: "/password", message }] });
}

function explainWeakness(password: string, email: string): string | null {
  if (!hasAllowedLength(password)) {
    return `A password has ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters.`;
  }
  const text = normalise(password);
  if (isCommon(text) || isRegular(text)) {
    return "Many people use this password, so it is tried first: choose another one.";
  }
  if (isMadeOf(text, [PROGRAM, ...wordsOf(email)])) {
    return `A password is not made of your e-mail address or the name ${PROGRAM}: choose another one.`;
  }
  return null;
}

/** As passwords are compared with others: what looks the same is the same. */
function normalise(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

/** The list has one in each line, most of them in lower case. */
function isCommon(text: string): boolean {
  return `\n${COMMON}`.includes(`\n${text.trim()}\n`);
}

/** Whether it repeats a few characters (`abababab`), or goes on one by one (`abcdefgh`, `87654321`). */
function isRegular(text: string): boolean {
  if ([1, 2, 3].some((period) => text.slice(period) === text.slice(0, -period))) return true;
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const steps = new Set(codes.slice(1).map((code, index) => code - (codes[index] ?? 0)));
  const [step = 0] = steps;
  return steps.size === 1 && Math.abs(step) === 1;
}

/** The words of an address, and what stands before its `@` as one. */
function wordsOf(email: string): string[] {
  const [local = ""] = normalise(email).split("@");
  return [...normalise(email).split(/[^\p{L}]+/u), lettersOf(local)].filter(
    (word) => word.length >= MIN_WORD,
  );
}

/** Whether its letters are these words and nothing else, and what is beside them is too little. */
function isMadeOf(text: string, words: readonly string[]): boolean {
  const letters = lettersOf(text);
  const others = [...text].length - [...letters].length;
  return isJoined(letters, words) && others < PASSWORD_LENGTH.min;
}

/**
 * Whether a text is words one after the other, each as often as it likes. No pattern: an address like
 * `aaa.aaaa@example.com` would have it try every way to cut a row of letters up.
 */
function isJoined(text: string, words: readonly string[]): boolean {
  /** Places at which a word can end. */
  const ends = new Set([0]);
  for (let at = 0; at < text.length; at++) {
    if (!ends.has(at)) continue;
    for (const word of words) if (text.startsWith(word, at)) ends.add(at + word.length);
  }
  return text !== "" && ends.has(text.length);
}

function lettersOf(text: string): string {
  return text.replaceAll(/[^\p{L}]/gu, "");
}
