import { distance } from "fastest-levenshtein";
import { APP_CLIENTS } from "./app-clients.ts";
import type { Client } from "./client.ts";
import { TERMINAL_CLIENTS } from "./terminal-clients.ts";

/** Every client that `ctxd connect` knows. */
export const CLIENTS: readonly Client[] = [...TERMINAL_CLIENTS, ...APP_CLIENTS];

/** The client of an id; null for none. */
export function findClient(id: string): Client | null {
  return CLIENTS.find((client) => client.id === id) ?? null;
}

/** Shorter words are in too many names. */
const SHORTEST_PART = 3;
/** Letters that may be wrong, as a share of a word. */
const WRONG = 0.4;

/** The clients that somebody may have meant by a word that is no id: the likeliest, or none. */
export function clientsLike(word: string): readonly Client[] {
  const wanted = lettersOf(word);
  const parts = CLIENTS.filter(({ id, name }) =>
    [lettersOf(id), lettersOf(name)].some((each) => isPart(wanted, each) || isPart(each, wanted)),
  );
  if (parts.length > 0) return parts;
  const rated = CLIENTS.map((client) => ({
    client,
    wrong: Math.min(...wordsOf(client).map((each) => distance(wanted, lettersOf(each)))),
  }));
  const least = Math.min(...rated.map(({ wrong }) => wrong));
  if (least > Math.max(1, wanted.length * WRONG)) return [];
  return rated.filter(({ wrong }) => wrong === least).map(({ client }) => client);
}

/** What a client is called: by its id, by its name, and by the words of that. */
function wordsOf({ id, name }: Client): string[] {
  return [id, name, ...name.split(" ")];
}

function isPart(part: string, whole: string): boolean {
  return part.length >= SHORTEST_PART && whole.includes(part);
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
