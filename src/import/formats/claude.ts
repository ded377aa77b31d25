import { isObject } from "../../text/parse-json.ts";
import { readEntries, readObjects } from "../files/json-document.ts";
import { splitBlocks, subjectOf } from "../files/markdown.ts";
import { objectsOf } from "../files/source.ts";
import { textOf, turnOf } from "../transcripts/turn.ts";
import type { EntryResult, Format } from "./format.ts";

/**
 * `memories.json` of Claude's data export: a list with one object per account, with
 * `conversations_memory` (Markdown) and `project_memories` (Markdown by project). Source: exports of
 * 2026 (https://portable-ai-memory.org/providers/anthropic); Anthropic does not document the format.
 */
export const claudeExport: Format = {
  name: "the memories of Claude's data export",
  origin: "claude",
  recognises: (head) =>
    /^\s*\[/.test(head) && /"(conversations_memory|project_memories)"\s*:/.test(head),
  read: (source, { projects: names }) =>
    readEntries(source, function* (entry): Iterable<EntryResult> {
      if (!isObject(entry)) {
        yield { problem: "has no memories" };
        return;
      }
      const projects = isObject(entry.project_memories)
        ? Object.entries(entry.project_memories)
        : [];
      yield* readMarkdown(entry.conversations_memory, undefined, names);
      for (const [project, text] of projects) yield* readMarkdown(text, project, names);
    }),
};

/** A bold line, which Claude uses as a heading. */
const BOLD = /^\*\*([^*]+)\*\*$/;

function* readMarkdown(
  text: unknown,
  project: string | undefined,
  names: ReadonlyMap<string, string>,
): Iterable<EntryResult> {
  if (text === undefined || text === null) return;
  if (typeof text !== "string") {
    yield { problem: "has a memory that is not text" };
    return;
  }
  const lines = text.split(/\r?\n/).map((line) => line.replace(BOLD, "# $1"));
  for (const block of splitBlocks(lines)) {
    yield {
      memory: {
        content: block.text,
        subject: subjectOf(block.headings),
        tags: block.headings.slice(-1),
        metadata: { project },
        ...(project !== undefined && { project: names.get(project) }),
        key: JSON.stringify([project ?? null, block.text]),
      },
    };
  }
}

/**
 * `conversations.json` of Claude's data export: a list of conversations, each with `chat_messages`
 * (`sender` is `human` or `assistant`) in order. Source of the fields:
 * https://whychose.com/seo/claude-conversation-export-format; Anthropic does not document them.
 */
export const claudeConversations: Format = {
  name: "conversations of Claude",
  origin: "claude",
  recognises: (head) => /^\s*[[{]/.test(head) && /"chat_messages"\s*:/.test(head),
  read: (source, { projects }) =>
    // Both kinds of export exist: one object per line, and a list of objects.
    objectsOf(source.head).some((entry) => "chat_messages" in entry)
      ? readObjects(source, (entry) => readConversation(entry, projects))
      : readEntries(source, (entry) => readConversation(entry, projects)),
};

function* readConversation(
  entry: unknown,
  projects: ReadonlyMap<string, string>,
): Iterable<EntryResult> {
  if (!isObject(entry) || !Array.isArray(entry.chat_messages)) {
    yield { problem: "is not a conversation" };
    return;
  }
  const { uuid: session, name, created_at } = entry;
  const projectId = typeof entry.project_uuid === "string" ? entry.project_uuid : "";
  const title = typeof name === "string" && name !== "" ? name : undefined;
  for (const message of entry.chat_messages) {
    if (!isObject(message)) continue;
    const role = ROLES.get(message.sender);
    // `content` also has tool calls and their results; `text` has text only.
    const text = textOf(message.content) || textOf(message.text);
    if (role === undefined || text === "") continue;
    const createdAt = message.created_at ?? created_at;
    yield {
      memory: {
        ...turnOf({ role, text, id: message.uuid, session, title, agent: "claude", createdAt }),
        project: projects.get(projectId),
      },
    };
  }
}

const ROLES = new Map<unknown, "user" | "assistant">([
  ["human", "user"],
  ["user", "user"],
  ["assistant", "assistant"],
]);

/**
 * `projects.json` of the same export, or one file per project in `projects/`: the name, the
 * instructions and the added texts of each project.
 */
export const claudeProjects: Format = {
  name: "projects of Claude",
  origin: "claude-projects",
  recognises: (head) =>
    /^\s*[[{]/.test(head) &&
    /"prompt_template"\s*:/.test(head) &&
    /"(docs|is_starter_project|is_private)"\s*:/.test(head),
  read: (source, { projects }) =>
    readEntries(source, (entry) => readProject(entry, projects), ["$"]),
};

function* readProject(entry: unknown, projects: Map<string, string>): Iterable<EntryResult> {
  if (!isObject(entry) || typeof entry.name !== "string" || entry.name === "") {
    yield { problem: "is not a project" };
    return;
  }
  const { uuid, name: project, description, prompt_template, docs, created_at } = entry;
  if (typeof uuid === "string") projects.set(uuid, project);
  const texts: [string | null, unknown][] = [
    [null, description],
    ["Instructions", prompt_template],
    ...(Array.isArray(docs) ? docs.filter(isObject) : []).map((doc): [string | null, unknown] => [
      String(doc.filename ?? "") || null,
      doc.content,
    ]),
  ];
  for (const [about, text] of texts) {
    if (typeof text !== "string") continue;
    for (const block of splitBlocks(text.split(/\r?\n/))) {
      yield {
        memory: {
          content: block.text,
          subject: subjectOf([project, about, ...block.headings]),
          project,
          agent: "claude",
          createdAt: created_at,
          key: JSON.stringify([uuid ?? project, about, block.text]),
        },
      };
    }
  }
}
