import { LIMITS, MAX_BATCH } from "../../src/memories/model/memory.ts";
import { rawRequest } from "../support/raw-http.ts";
import type { Hostile } from "./hostile-request.ts";
import type { ProbedServer } from "./probed-server.ts";

/**
 * Valid requests as large as the limits allow, in this order. Their texts repeat one word: the model embeds
 * that at once, and different words would take minutes.
 */
export function largeRequests({ key }: Pick<ProbedServer, "key">): Hostile[] {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const post = (line: string, body: string, more: Record<string, string> = {}) => {
    const bytes = Buffer.from(body);
    const length = { "content-length": String(bytes.length) };
    return Buffer.concat([rawRequest(line, { ...headers, ...length, ...more }), bytes]);
  };
  const get = (path: string) => rawRequest(`GET /api/memories${path}`, headers);
  const largest = (text: string) =>
    [...text.repeat(Math.ceil(32_768 / text.length))].slice(0, 32_760).join("");
  const memories = (text: string) =>
    Array.from({ length: LIMITS.batch }, (_, n) =>
      JSON.stringify({
        content: `${n} ${largest(text)}`,
        tags: Array.from({ length: 32 }, (_, tag) => `${tag}`.padEnd(64, "x")),
      }),
    );
  /** As many as a body may have. */
  const batch = (text: string) => {
    const all = memories(text);
    const most = Math.floor((MAX_BATCH.bytes - 100) / (1 + Buffer.byteLength(all.at(-1) ?? "")));
    return `{"memories":[${all.slice(0, most).join(",")}]}`;
  };
  const lines = (text: string) => memories(text).join("\n");
  const words = batch("lazydog");
  const retried = { "idempotency-key": "1" };
  return [
    {
      name: "large: a batch of words",
      request: () => post("POST /api/memories/batch", words, retried),
    },
    {
      name: "large: the same again",
      request: () => post("POST /api/memories/batch", words, retried),
    },
    {
      name: "large: a batch of emoji",
      request: () => post("POST /api/memories/batch", batch("🦜🐦")),
    },
    {
      name: "large: a batch of accents",
      request: () => post("POST /api/memories/batch", batch("\u0001é")),
    },
    {
      name: "large: an import of words",
      request: () =>
        post("POST /api/memories/import", lines("again"), {
          "content-type": "application/x-ndjson",
        }),
    },
    { name: "large: a list of 100", request: () => get("?limit=100") },
    { name: "large: a search for 100", request: () => get("/search?q=lazy+dog&limit=100") },
    { name: "large: an export", request: () => get("/export") },
    { name: "large: statistics", request: () => rawRequest("GET /api/stats", headers) },
    {
      name: "large: agents' list of 100",
      request: () =>
        post(
          "POST /mcp",
          JSON.stringify({
            jsonrpc: "2.0",
            id: 1,
            method: "tools/call",
            params: { name: "list_memories", arguments: { limit: 100, max_tokens: 50_000 } },
          }),
          { accept: "application/json, text/event-stream" },
        ),
    },
    {
      name: "large: a deletion by filter",
      request: () => rawRequest(`DELETE /api/memories?tags=${"0".padEnd(64, "x")}`, headers),
    },
  ];
}
