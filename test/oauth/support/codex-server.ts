import { readLines } from "../../support/lines.ts";

interface Message {
  id?: number;
  method?: string;
  params?: { name?: string; status?: string; error?: string | null };
  result?: unknown;
}

/**
 * Codex as editors use it (`codex app-server`, JSON-RPC in lines): it connects to its MCP servers and calls their
 * tools without a model.
 */
export function codexServer(child: Bun.Subprocess<"pipe", "pipe", "ignore">) {
  const { promise: outcome, resolve: settle } = Promise.withResolvers<string>();
  const waiting = new Map<number, (message: Message) => void>();
  const write = (message: object) => {
    child.stdin.write(`${JSON.stringify(message)}\n`);
    child.stdin.flush();
  };
  const call = (method: string, params: object) =>
    new Promise<Message>((resolve) => {
      const id = waiting.size + 1;
      waiting.set(id, resolve);
      write({ id, method, params });
    });
  const reading = (async () => {
    for await (const line of readLines(child.stdout)) {
      const message: Message = JSON.parse(line);
      const { id, method, params } = message;
      if (id !== undefined && method === undefined) waiting.get(id)?.(message);
      const isSettled = params?.status === "ready" || params?.status === "failed";
      if (method === "mcpServer/startupStatus/updated" && params?.name === "ctxd" && isSettled) {
        settle(params.error ?? "ready");
      }
    }
    settle("ended");
  })();

  return {
    /** Begins a conversation. Gives its id, and "ready" or why the memories are not there. */
    async begin(cwd: string) {
      await call("initialize", { clientInfo: { name: "test", title: "test", version: "1" } });
      write({ method: "initialized" });
      const { result } = await call("thread/start", { cwd, model: "none", ephemeral: true });
      return { threadId: Object(result).thread.id as string, status: await outcome };
    },
    callTool: async (threadId: string, tool: string, args: object) =>
      await call("mcpServer/tool/call", { threadId, server: "ctxd", tool, arguments: args }),
    async [Symbol.asyncDispose]() {
      child.kill();
      await reading;
      await child.exited;
    },
  };
}
