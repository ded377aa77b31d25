/**
 * English words that say nothing about the subject of a text. Searches by words ignore them. The list
 * includes question words, and single letters such as the `s` of a split "'s".
 */
export const STOP_WORDS: readonly string[] = `
  a about after all also am an and any are as at be because been before being but by can could d did
  do does doing down for from had has have having he her here hers him his how i if in into is it
  its just ll m me might more most my no nor not of off on once only or other our out over own
  re s shall she should so some such t than that the their theirs them then there these they this
  those through to too until up us ve very was we were what when where which while who whom whose
  why will with would you your yours`
  .trim()
  .split(/\s+/);
