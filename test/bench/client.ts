import type { NewMemory } from "../../src/memories/model/memory.ts";

/** The calls that are measured. Each returns the whole answer and throws when it is no success. */
export interface BenchClient {
  search(query: string): Promise<string>;
  save(memory: NewMemory): Promise<string>;
  saveAll(memories: readonly NewMemory[]): Promise<string>;
  health(): Promise<string>;
}

/** Speaks to a server as a client would that keeps its connections open. */
export function createBenchClient(origin: string, key: string): BenchClient {
  const call = async (status: number, path: string, json?: unknown) => {
    const response = await fetch(`${origin}/api${path}`, {
      method: json === undefined ? "GET" : "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: json === undefined ? null : JSON.stringify(json),
    });
    const body = await response.text();
    if (response.status !== status) {
      throw new Error(`${path.split("?")[0]}: ${response.status} ${body.slice(0, 300)}`);
    }
    return body;
  };
  return {
    search: (query) => call(200, `/memories/search?q=${encodeURIComponent(query)}`),
    save: (memory) => call(201, "/memories", memory),
    saveAll: (memories) => call(201, "/memories/batch", { memories }),
    health: () => call(200, "/health"),
  };
}
