import { fileURLToPath } from "node:url";
import type { Forward } from "./forwarder.ts";
import { fieldsOf } from "./json-rpc.ts";

/** Milliseconds that a call waits for the client to say in which folders it works. */
const PATIENCE = 1_000;
/** What is answered by the project that is worked on. */
const NEEDS_FOLDERS = /^(tools\/call|prompts\/get|resources\/\w+)$/;
const ANSWER = /^ctxd-roots-\d+$/;

/**
 * Asks a client in which folders its person works (2025-11-25, Roots). Editors start servers in the
 * home folder, or in that of the system, and say it by this alone.
 * @param write writes one line to the client, never rejects
 */
export function createRoots(write: (line: string) => Promise<void>) {
  let folders: readonly string[] = [];
  let hasRoots = false;
  let asked = 0;
  /** Resolves when the client has answered, or was given the time to. */
  let settled = Promise.resolve();
  let settle = () => {};

  const ask = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, PATIENCE);
    settle = () => {
      clearTimeout(timer);
      resolve();
    };
    settled = promise;
    asked++;
    await write(
      JSON.stringify({ jsonrpc: "2.0", id: `ctxd-roots-${asked}`, method: "roots/list" }),
    );
  };

  const take = (message: unknown) => {
    const { id, result } = fieldsOf(message);
    // The client may have changed its folders since it was asked.
    if (id !== `ctxd-roots-${asked}`) return;
    const { roots } = fieldsOf(result);
    folders = Array.isArray(roots) ? roots.flatMap((root) => folderOf(fieldsOf(root).uri)) : [];
    settle();
  };

  return {
    /** The folders that the client has named; none before it has. */
    folders: () => folders,

    /** A relay that asks as soon as the client may be asked, and keeps its answers to itself. */
    around(relay: Forward): Forward {
      return async (message, text, signal) => {
        const { id, method, params } = fieldsOf(message);
        if (method === undefined && typeof id === "string" && ANSWER.test(id)) return take(message);
        if (method === "initialize") {
          hasRoots = fieldsOf(fieldsOf(params).capabilities).roots !== undefined;
        }
        const isChange = method === "notifications/roots/list_changed";
        if (hasRoots && (isChange || method === "notifications/initialized")) await ask();
        if (typeof method === "string" && NEEDS_FOLDERS.test(method)) await settled;
        await relay(message, text, signal);
      };
    },
  };
}

function folderOf(uri: unknown): string[] {
  if (typeof uri !== "string" || !uri.startsWith("file://")) return [];
  try {
    return [fileURLToPath(uri)];
  } catch {
    // Of another machine, say: a server on this one has nothing to do with it.
    return [];
  }
}
