import { join } from "node:path";
import type { Message } from "./model/api.ts";
import type { Seen } from "./observe.ts";

/** What a real program did with ctxd in the last run that wrote it down. */
export interface Tried {
  readonly name: string;
  readonly version: string;
  /** Whether it has means for these, and they worked. */
  readonly recalls: boolean;
  readonly captures: boolean;
  /** What its model sees in its first request; null if only its maker's service can answer. */
  readonly sees: Seen | null;
  /** Whether a first request has the tools and the recalled memories when no server ran before. */
  readonly cold: { readonly tools: boolean; readonly recalled: boolean } | null;
  /** The role of the message that recalled memories are in; null if none are recalled. */
  readonly place: Message["role"] | null;
  /** Files that `connect` and `connect --remove` together leave changed. */
  readonly left: readonly string[];
  /** Seconds for a session of one prompt. */
  readonly seconds: number | null;
}

const FILE = join(import.meta.dir, "tried.json");
const PAGE = join(import.meta.dir, "..", "..", "src", "help", "measurements.md");
const HEADING = "## Tried with\n";

/** What was tried, by the id of the program. */
export function readTried(): Promise<Record<string, Tried>> {
  return Bun.file(FILE).json();
}

/** Writes down what was tried, in the file and in the help. */
export async function writeTried(id: string, outcome: Tried): Promise<void> {
  const next = Object.entries({ ...(await readTried()), [id]: outcome }).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  await Bun.write(FILE, `${JSON.stringify(Object.fromEntries(next), null, 2)}\n`);
  const page = await Bun.file(PAGE).text();
  await Bun.write(PAGE, page.replace(sectionOf(page), renderTried(Object.fromEntries(next))));
}

/** The section of the help about what was tried. */
export async function triedInHelp(): Promise<string> {
  return sectionOf(await Bun.file(PAGE).text());
}

function sectionOf(page: string): string {
  const [, after = ""] = page.split(HEADING);
  return HEADING + (after.split(/^## /m)[0] ?? "");
}

/** Renders that section. */
export function renderTried(all: Readonly<Record<string, Tried>>): string {
  const yes = (is: boolean) => (is ? "yes" : "–");
  const kilobytes = (bytes: number) => (bytes === 0 ? "–" : `${(bytes / 1_000).toFixed(1)} kB`);
  const toolsIn = ({ tools, names }: Seen) => {
    if (names > 0) return `${names} names`;
    return tools > 0 ? kilobytes(tools) : "none before it searches";
  };
  const rows = Object.values(all).map(({ sees, place, ...each }) => [
    ...[each.name, each.version, yes(each.recalls), yes(each.captures)],
    sees === null ? "needs its service" : toolsIn(sees),
    kilobytes(sees?.instructions ?? 0),
    place === null ? "–" : `in ${PLACES[place]}`,
  ]);
  const heads = ["agent", "version", "recalls", "captures"];
  const seen = ["tools in its first request", "instructions", "recalled memories"];
  return [
    HEADING,
    "The tests run these programs as their makers publish them, with a stand-in for the model: each is connected by",
    "`ctxd connect`, saves, finds in a new session what was saved, does not find it in another project, goes on without the",
    "server, and is disconnected. The last columns say what its model sees of ctxd before the first answer. Programs that",
    "need their makers' service were only connected, listed ctxd, and were disconnected.",
    "",
    ...[[...heads, ...seen], [...heads, ...seen].map(() => "---"), ...rows].map(
      (cells) => `| ${cells.join(" | ")} |`,
    ),
    "\n",
  ].join("\n");
}

const PLACES: Readonly<Record<Message["role"], string>> = {
  system: "a system message",
  user: "the prompt's message",
  tool: "a tool's result",
  assistant: "an answer",
};
