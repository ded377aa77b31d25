import { existsSync } from "node:fs";
import { join } from "node:path";
import MiniSearch from "minisearch";
import { LIMIT, type Peer } from "./peer.ts";
import { answerCalls, type Library, startLibrary } from "./program.ts";

/** An index of words in memory, in a program of ours that writes it to a file when it ends. */
export const miniSearchPeer: Peer = {
  name: "MiniSearch",
  needsVectors: false,
  scope: "words; is in memory until the index is written; none",
  start: (folder) => startLibrary(import.meta.path, folder),
};

const OPTIONS = { fields: ["content"], storeFields: ["content"] };

async function openLibrary(folder: string): Promise<Library> {
  const file = join(folder, "index.json");
  const index = existsSync(file)
    ? MiniSearch.loadJSON(await Bun.file(file).text(), OPTIONS)
    : new MiniSearch(OPTIONS);
  return {
    load: (memories) =>
      index.addAll(memories.map(({ id, memory }) => ({ id, content: memory.content }))),
    search: ({ text }) => JSON.stringify(index.search(text).slice(0, LIMIT)),
    close: () => Bun.write(file, JSON.stringify(index)),
  };
}

if (import.meta.main) answerCalls({ ...(await openLibrary(Bun.argv[2] ?? "")) });
