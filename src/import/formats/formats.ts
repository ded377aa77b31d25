import { createJsonStream, JsonProblem } from "../../text/json-stream.ts";
import { HEAD_BYTES, SourceError, type TextSource } from "../files/source.ts";
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
 * @throws SourceError for JSON that is broken or of an unknown format, which is useless as plain text
 */
export function recognise({ name, head, fileName = name }: TextSource): Format {
  const format = FORMATS.find(({ recognises }) => recognises(head, fileName)) ?? plainText;
  if (format === plainText && (isJson(head) || /\.json$/i.test(fileName))) {
    const problem = problemIn(head);
    throw new SourceError(
      name,
      problem === null
        ? "is JSON in an unknown format: ctxd import --help lists what can be imported"
        : `${problem}: correct it there, or export it again`,
    );
  }
  return format;
}

function isJson(head: string): boolean {
  return /^\s*(\{\s*["}]|\[\s*[[{"\]])/.test(head);
}

/** What is wrong with the first JSON document of a file, with its line; null if nothing is. @param head may be a part */
function problemIn(head: string): string | null {
  const bytes = new TextEncoder().encode(head);
  const stream = createJsonStream({ paths: ["$"], maxLength: HEAD_BYTES, isFirst: true }, () => {});
  try {
    stream.write(bytes);
    if (bytes.length < HEAD_BYTES) stream.end();
    return null;
  } catch (error) {
    if (error instanceof JsonProblem) return error.message;
    throw error;
  }
}
