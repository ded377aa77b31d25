import { OWN_PROMPT } from "../../capture/capture.ts";
import type { Memory } from "../../memories/model/memory.ts";
import type { TidyAction, TidyGroup } from "../../memories/rules/tidy/report.ts";
import { maskSecretsInLong } from "../../secrets/find-secrets.ts";
import { excerpt } from "../../text/short-text.ts";
import type { Tidy } from "../../tidy/tidy.ts";
import { describeMemory } from "../memory-text.ts";
import type { Session } from "../tool.ts";
import { limitsOf, QUOTED } from "./distill.ts";

/** Groups that are shown at once, memories of one, characters of one memory, and of all. */
const MAX_GROUPS = 20;
const MAX_OF_GROUP = 8;
const OF_ONE_MEMORY = 400;
const CHARACTERS = 24_000;

/** How the tools do what a group's proposal says. */
const CALLS: Readonly<Record<TidyAction, string>> = {
  supersede:
    "supersede: save_memory with the text and the project of the memory to keep, word for word, and the id of another one in supersedes. Nothing is saved twice. delete_memory those that remain. If the one to keep has a history, only delete_memory the others.",
  delete: "delete: delete_memory for each, except the one to keep. Deletion is permanent.",
  pin: "pin: update_memory with pinned true and expires_at null.",
  expire: "expire: update_memory with an expires_at in 30 days, unless it expires anyway.",
  merge: "merge: update_memory with the project that is named.",
};

/** Asks the person's agent to go through what could be tidied, with its person. */
export async function tidyText(tidy: Pick<Tidy, "report">, session: Session): Promise<string> {
  const { groups, kinds } = await tidy.report(session.principal, { limit: MAX_GROUPS });
  if (groups.length === 0) return "There is nothing to tidy: change nothing, and tell the user.";
  const parts: string[] = [];
  let room = CHARACTERS;
  for (const group of groups) {
    const part = await describeGroup(group, parts.length + 1);
    room -= part.length;
    if (room < 0 && parts.length > 0) break;
    parts.push(part);
  }
  const all = Object.values(kinds).reduce<number>((sum, count) => sum + (count ?? 0), 0);
  const actions = new Set(groups.slice(0, parts.length).flatMap(({ actions }) => actions));
  const calls = Object.entries(CALLS).filter(([action]) => actions.has(action as TidyAction));
  return [
    `${OWN_PROMPT} go with the user through what could be tidied. ${QUOTED}`,
    `${parts.length} of ${all} groups:\n\n${parts.join("\n\n")}`,
    "The quotes end here. Show the user a few groups at a time, say what you would do with each and why, and do only what the user agrees to. Read a memory with get_memory where its text is cut. Where two memories of a group hold, leave both.",
    calls.map(([, call]) => `- ${call}`).join("\n"),
    limitsOf(session, "the groups"),
    all > parts.length && "When these are done, the user can run this prompt again for the others.",
  ]
    .filter(Boolean)
    .join("\n\n");
}

async function describeGroup(
  { kind, memories, proposal, reason }: TidyGroup,
  number: number,
): Promise<string> {
  const { action, keep, project } = proposal;
  const hasHistory = memories.some(({ id, supersedes }) => id === keep && supersedes !== null);
  const facts = [
    `Group ${number} · ${kind.replaceAll("_", " ")} · proposal: ${action}`,
    keep !== undefined && `keep ${keep}${hasHistory ? ", which has a history" : ""}`,
    project !== undefined && `into the project ${JSON.stringify(project)}`,
  ].filter((fact) => typeof fact === "string");
  const shown: string[] = [];
  for (const memory of memories.slice(0, MAX_OF_GROUP)) {
    // A secret goes to no model.
    shown.push(await maskSecretsInLong(describe(memory, await maskSecretsInLong(memory.content))));
  }
  const more = memories.length - shown.length;
  if (more > 0) shown.push(`and ${more} more`);
  return `${facts.join(" · ")}\n${reason}\n${shown.join("\n")}`;
}

function describe(memory: Memory, content: string): string {
  const isCut = content.length > OF_ONE_MEMORY;
  return describeMemory({ memory, content: excerpt(content, OF_ONE_MEMORY), isCut });
}
