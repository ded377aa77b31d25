import { join } from "node:path";
import { createBenchClient } from "../client.ts";
import { fetchMetrics } from "../server-metrics.ts";
import { createKey, startServer } from "../server-process.ts";
import { settle } from "../settle.ts";
import type { ModelFolders } from "./engine.ts";
import type { Peer } from "./peer.ts";

/** ctxd itself, over HTTP. It embeds on its own. */
export function createCtxd(command: readonly string[], { cache, model }: ModelFolders): Peer {
  const keys = new Map<string, string>();
  return {
    name: "ctxd",
    needsVectors: false,
    scope: "meaning and words; is on disk; accounts and keys",
    async start(folder) {
      const data = join(folder, "data");
      const folders = { data, cache, ...(model && { model }) };
      const key = keys.get(folder) ?? (await createKey(command, folders));
      keys.set(folder, key);
      const { pid, origin, stop } = await startServer(command, folders);
      const client = createBenchClient(origin, key);
      return {
        pid,
        load: (memories) => client.saveAll(memories.map(({ memory }) => memory)),
        save: ({ memory }) => client.save(memory),
        search: ({ text }) => client.search(text),
        settle: () => settle(data, () => fetchMetrics(data)),
        stop,
      };
    },
  };
}
