/**
 * The shapes of sentence of one language. `{S}` is the subject with its article, such as "the port of billing", `{C}` the
 * same at the beginning of a sentence, `{A}` the same as an object, `{V}` its value and `{O}` the value before.
 */
export interface Wording {
  facts: readonly string[];
  /** Changes that say so, such as "from now on". */
  changes: readonly string[];
  /** Changes that only say what holds now. */
  silentChanges: readonly string[];
  corrections: readonly string[];
  withdrawals: readonly string[];
  questions: readonly string[];
  /** What an assistant says to a fact, and to a question whose answer it knows. */
  notes: readonly string[];
  answers: readonly string[];
  unknown: readonly string[];
  greetings: readonly string[];
  thanks: readonly string[];
  requests: readonly string[];
  /** What an assistant says that has done something. */
  reports: readonly string[];
  logs: readonly string[];
  secrets: readonly string[];
  /** What an agent saves: facts, changes and withdrawals; `{D}` is the date. */
  saves: readonly string[];
  savedChanges: readonly string[];
  savedWithdrawals: readonly string[];
  /** What may stand before and after a sentence. */
  openings: readonly string[];
  endings: readonly string[];
  /** What `{t}` stands for. */
  things: readonly string[];
}
