import { fileURLToPath } from "node:url";
import { fieldsOf } from "../mcp/http-message.ts";
import type { Forward } from "./forwarder.ts";

/** Milliseconds that a call waits for the client to name its folders. */
const TIMEOUT_MS = 1_000;
/** Methods whose answers depend on the current project. */
const NEEDS_FOLDERS = /^(tools\/call|prompts\/get|resources\/\w+)$/;
const REQUEST_ID = /^ctxd-roots-\d+$/;

/**
 * Asks a client which folders its user works in (2025-11-25, Roots). Editors start MCP servers in the
 * home folder or a system folder, so the working directory does not tell.
 * @param write writes one line to the client, never rejects
 */
export function createRoots(write: (line: string) => Promise<void>) {
  let folders: readonly string[] = [];
  let hasRoots = false;
  let requests = 0;
  /** Resolves when the client has answered or the time limit has passed. */
  let answered = Promise.resolve();
  let onAnswer = () => {};

  const ask = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, TIMEOUT_MS);
    onAnswer = () => {
      clearTimeout(timer);
      resolve();
    };
    answered = promise;
    const id = `ctxd-roots-${++requests}`;
    await write(JSON.stringify({ jsonrpc: "2.0", id, method: "roots/list" }));
  };

  const takeAnswer = (message: unknown) => {
    const { id, result } = fieldsOf(message);
    // Ignores the answer to an earlier request: the folders have changed since.
    if (id !== `ctxd-roots-${requests}`) return;
    const { roots } = fieldsOf(result);
    folders = Array.isArray(roots) ? roots.flatMap((root) => folderOf(fieldsOf(root).uri)) : [];
    onAnswer();
  };

  return {
    /** The folders that the client has named; empty before it has. */
    folders: () => folders,

    /** Wraps a forwarder: asks for the folders when the protocol allows it, and keeps the answers. */
    wrap(forward: Forward): Forward {
      return async (message, text, signal) => {
        const { id, method, params } = fieldsOf(message);
        const isAnswer = method === undefined && typeof id === "string" && REQUEST_ID.test(id);
        if (isAnswer) return takeAnswer(message);
        if (method === "initialize") {
          hasRoots = fieldsOf(fieldsOf(params).capabilities).roots !== undefined;
        }
        const isChange = method === "notifications/roots/list_changed";
        if (hasRoots && (isChange || method === "notifications/initialized")) await ask();
        if (typeof method === "string" && NEEDS_FOLDERS.test(method)) await answered;
        await forward(message, text, signal);
      };
    },
  };
}

function folderOf(uri: unknown): string[] {
  if (typeof uri !== "string" || !uri.startsWith("file://")) return [];
  try {
    return [fileURLToPath(uri)];
  } catch {
    // Not a path of this machine, for example a path of another host.
    return [];
  }
}
