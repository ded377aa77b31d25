import { openChosenModel } from "../../../src/embedding/chosen-model.ts";
import { defaultEngines } from "../../../src/embedding/engine-pool.ts";
import { createLog } from "../../../src/log.ts";
import type { NewMemory } from "../../../src/memories/model/memory.ts";
import { readResources } from "../../../src/system/processes.ts";
import type { EmbeddedMemory } from "./peer.ts";
import { answerCalls, type Program, startProgram } from "./program.ts";

/** Where the engine finds its model. */
export interface ModelFolders {
  readonly cache: string;
  /** Of a model other than the built-in one. */
  readonly model?: string;
}

interface Methods {
  embedQuestion(text: string): Promise<Float32Array>;
  embedMemories(memories: readonly NewMemory[]): Promise<EmbeddedMemory[]>;
}

/** Starts the server's own engine in a process of its own, with as many workers as a server here may have. */
export function startEngine({ cache, model }: ModelFolders): Promise<Program<Methods>> {
  return startProgram<Methods>(import.meta.path, cache, ...(model ? [model] : []));
}

if (import.meta.main) {
  const [cacheDir = "", model = null] = Bun.argv.slice(2);
  const log = createLog({ logLevel: "warn", logFormat: "text" });
  const engines = defaultEngines(readResources());
  const embedder = await openChosenModel({ cacheDir, model, log, engines });
  await embedder.ready();

  const embed = async (memory: NewMemory): Promise<EmbeddedMemory> => {
    const { vectors, starts } = await embedder.embedContent(memory.content);
    const passages = vectors.map((vector, at) => ({
      text: memory.content.slice(starts[at], starts[at + 1]),
      vector,
    }));
    return { id: Bun.randomUUIDv7(), memory, passages };
  };
  answerCalls({
    embedQuestion: async (text: string) => (await embedder.embedQuery(text)).vector,
    embedMemories: (memories: readonly NewMemory[]) => Promise.all(memories.map(embed)),
  });
}
