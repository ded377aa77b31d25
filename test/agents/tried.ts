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
  const rows = Object.values(all).map(({ name, sees, version, recalls, captures }) => [
    ...[name, sees === null ? `${version} (only connected)` : version],
    ...[yes(recalls), yes(captures)],
  ]);
  const sizes = Object.values(all).flatMap(({ sees }) =>
    sees && sees.tools > 0 ? [sees.tools] : [],
  );
  const [least, most] = [Math.min(...sizes), Math.max(...sizes)].map((size) =>
    (size / 1_000).toFixed(1),
  );
  const heads = ["agent", "version", "recalls", "captures"];
  return [
    HEADING,
    "The tests run these programs with a stand-in for the model: each is connected, saves, finds in a new session what was saved,",
    `and is disconnected. The tools of ctxd take ${least} to ${most} kB of a first request, or only their names are in it.`,
    "",
    ...[heads, heads.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`),
    "\n",
  ].join("\n");
}
