import { type JsonObject, parseObject } from "../../import/json-objects.ts";

/** Milliseconds to wait for a hook's input: agents write it immediately. */
const TIMEOUT_MS = 1_000;
const MAX_BYTES = 16 << 20;

/** Reads the JSON object that an agent writes to a hook's standard input; null without one, or at a terminal. */
export async function readHookInput(): Promise<JsonObject | null> {
  if (process.stdin.isTTY) return null;
  const reader = Bun.stdin.stream().getReader();
  // A script that runs the command may leave its input open forever.
  const timer = setTimeout(() => void reader.cancel(), TIMEOUT_MS);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= MAX_BYTES) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes += value.length;
    chunks.push(value);
  }
  clearTimeout(timer);
  return parseObject(Buffer.concat(chunks).toString());
}
