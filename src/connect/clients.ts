import { distance } from "fastest-levenshtein";
import { APP_CLIENTS } from "./app-clients.ts";
import type { Client } from "./client.ts";
import { TERMINAL_CLIENTS } from "./terminal-clients.ts";

/**
 * Services that connect to a server from the internet, so its address must be public and use https. Their
 * users sign in instead of using a key.
 */
export const HOSTED_CLIENTS: readonly {
  readonly id: string;
  readonly name: string;
  /** The steps to connect, as sentences, for the address of the MCP endpoint. */
  readonly steps: (url: string) => readonly string[];
}[] = [
  {
    id: "claude-ai",
    name: "Claude (claude.ai, desktop and mobile)",
    steps: (url) => [
      "Open Customize, Connectors (in older versions Settings, Connectors), press + and choose “Add custom connector”.",
      `Enter the name ctxd and the address ${url}, and leave the rest empty.`,
      "Press Connect, sign in and allow.",
    ],
  },
  {
    id: "chatgpt",
    name: "ChatGPT",
    steps: (url) => [
      "Open https://chatgpt.com/plugins, press + and choose “Add custom MCP server”.",
      `Enter the name ctxd, the server URL ${url}, and choose OAuth.`,
      "Confirm that you understand the risk, and press “Create as a plugin”.",
      "Sign in and allow; in a conversation, choose ctxd from the + menu.",
    ],
  },
];

/** Every client that `ctxd connect` supports. */
export const CLIENTS: readonly Client[] = [...TERMINAL_CLIENTS, ...APP_CLIENTS];

/** The client with an id; null when there is none. */
export function findClient(id: string): Client | null {
  return CLIENTS.find((client) => client.id === id) ?? null;
}

/** Minimum letters of a partial match: shorter words are part of too many names. */
const MIN_PART_LENGTH = 3;
/** Share of a word's letters that may be wrong. */
const MAX_WRONG_SHARE = 0.4;

/** The clients most similar to a word that is not an id; none when no client is similar enough. */
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
  if (least > Math.max(1, wanted.length * MAX_WRONG_SHARE)) return [];
  return rated.filter(({ wrong }) => wrong === least).map(({ client }) => client);
}

function wordsOf({ id, name }: Client): string[] {
  return [id, name, ...name.split(" ")];
}

function isPart(part: string, whole: string): boolean {
  return part.length >= MIN_PART_LENGTH && whole.includes(part);
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}
