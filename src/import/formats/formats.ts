import { SourceError, type TextSource } from "../files/source.ts";
import { transcriptFormats } from "../transcripts/read-transcript.ts";
import { basicMemory } from "./basic-memory.ts";
import { chatGptConversations, chatGptMemories } from "./chatgpt.ts";
import { claudeConversations, claudeExport, claudeProjects } from "./claude.ts";
import { csv } from "./csv.ts";
import type { Format } from "./format.ts";
import { datedList, jsonList, ownExport, plainText } from "./general.ts";
import { letta } from "./letta.ts";
import { agentmemory, mem0, memoryGraph, memoryService, supermemory } from "./memory-servers.ts";
import { zep } from "./zep.ts";

/** All formats that can be imported. The first one that recognises a file reads it. */
const FORMATS: readonly Format[] = [
  ownExport,
  ...transcriptFormats,
  memoryGraph,
  memoryService,
  chatGptConversations,
  chatGptMemories,
  claudeConversations,
  claudeProjects,
  claudeExport,
  agentmemory,
  supermemory,
  zep,
  letta,
  mem0,
  jsonList,
  basicMemory,
  datedList,
  csv,
  plainText,
];

/**
 * The format of a file, by its content.
 * @throws SourceError for JSON of an unknown format, which is useless as plain text
 */
export function recognise(source: TextSource): Format {
  const format =
    FORMATS.find(({ recognises }) => recognises(source.head, source.fileName ?? source.name)) ??
    plainText;
  if (format === plainText && isJson(source.head)) {
    throw new SourceError(
      source.name,
      "is JSON in an unknown format: ctxd import --help lists what can be imported",
    );
  }
  return format;
}

function isJson(head: string): boolean {
  return /^\s*(\{\s*["}]|\[\s*[[{"\]])/.test(head);
}
