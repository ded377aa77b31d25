import {
  createReader,
  type FactMemory,
  type FactToken,
  factOf,
  plainEnglishOf,
} from "../fact-text.ts";
import { mayChange } from "./signs.ts";

const NAME = "[\"'`#]?(?<![\\p{L}\\p{N}._/-])(\\p{L}[\\p{L}\\p{N}._/-]{2,40})";
/** How something ends whose name follows: "replaced ESLint", "moved tickets from Jira", "cancelled the Meridian". */
const ENDING = new RegExp(
  `\\b(?:replac(?:ed|es|ing)|swapp(?:ed|ing)|(?:switch|mov|migrat|chang)(?:ed|ing) (?:[^\\s,.]+ ){0,3}?(?:from|off)|dropp(?:ed|ing)|ditched|cancell?ed|retired|decommissioned|abandoned|uninstalled|deleted|(?:got|getting) rid of|(?:gave|given) up(?: on)?|sold|quit|we're off|no more) (?:(?:the|our|my|his|her|their|its|old) )*${NAME}`,
  "giu",
);
/** How something ends whose name precedes: "Nagios is switched off", "Bruges fell through". */
const ENDED = new RegExp(
  `${NAME}["'\`]? (?:(?:(?:has|have) been|was|were|is|are|got|being) (?:replaced|swapped|retired|archived|decommissioned|shut down|switched off|turned off|dropped|abandoned|cancell?ed|discontinued|gone|history|dead|out|abgeschaltet|abgelöst|ersetzt|gekündigt|abgeschafft|eingestellt|archiviert|stillgelegt)\\b|fell through)`,
  "giu",
);

/** What a memory says is over, in lower case. */
const endedIn = createReader((_, memory) => {
  const text = plainEnglishOf(memory);
  const names = [ENDING, ENDED].flatMap((shape) =>
    [...text.matchAll(shape)].map(([, name]) => name),
  );
  return new Set(names.map((name = "") => name.toLowerCase().replace(/\.$/, "")));
});

/**
 * Whether the newer of two memories says that something is over that the older one names and the question does not, such as
 * "LaunchDarkly has been swapped out" after "Feature toggles live in LaunchDarkly". It may not repeat what that was for.
 */
export function saysOver(
  asked: readonly FactToken[],
  older: FactMemory,
  newer: FactMemory,
): boolean {
  const ended = endedIn(newer);
  if (ended.size === 0 || !mayChange(older, newer)) return false;
  const isAsked = (key: string) => asked.some((token) => token.key === key);
  return factOf(older).tokens.some(
    ({ word, key }) => ended.has(word) && !endedIn(older).has(word) && !isAsked(key),
  );
}
