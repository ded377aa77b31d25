import { readLines } from "../../support/lines.ts";

interface Message {
  id?: number;
  method?: string;
  params?: { name?: string; status?: string; error?: string | null };
}

/**
 * Codex as editors use it (`codex app-server`, JSON-RPC in lines): it says what it knows of its MCP
 * servers.
 */
export function codexServer(child: Bun.Subprocess<"pipe", "pipe", "ignore">) {
  const { promise: outcome, resolve: settle } = Promise.withResolvers<string>();
  const waiting = new Map<number, () => void>();
  const write = (message: object) => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    child.stdin.flush();
  };
  const call = (method: string, params: object) =>
    new Promise<void>((resolve) => {
      const id = waiting.size + 1;
      waiting.set(id, resolve);
      write({ id, method, params });
    });
  const reading = (async () => {
    for await (const line of readLines(child.stdout)) {
      const message: Message = JSON.parse(line);
      const { id, method, params } = message;
      if (id !== undefined && method === undefined) waiting.get(id)?.();
      const isSettled = params?.status === "ready" || params?.status === "failed";
      if (method === "mcpServer/startupStatus/updated" && params?.name === "ctxd" && isSettled) {
        settle(params.error ?? "ready");
      }
    }
    settle("ended");
  })();

  return {
    /** Begins a conversation. Gives "ready", or why the memories are not there. */
    async begin(cwd: string) {
      await call("initialize", { clientInfo: { name: "test", title: "test", version: "1" } });
      write({ method: "initialized" });
      await call("thread/start", { cwd, model: "none", ephemeral: true });
      return await outcome;
    },
    async [Symbol.asyncDispose]() {
      child.kill();
      await reading;
      await child.exited;
    },
  };
}
