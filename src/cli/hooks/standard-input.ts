import { isObject, type JsonObject } from "../../import/json-objects.ts";

/** Milliseconds that a hook's input may take to come: agents write it at once. */
const PATIENCE = 1_000;
/** Bytes of it. */
const MOST = 16 << 20;

/** The object that an agent gives a hook on standard input; null at a terminal, and for none. */
export async function readHookInput(): Promise<JsonObject | null> {
  if (process.stdin.isTTY) return null;
  const reader = Bun.stdin.stream().getReader();
  // Who runs it otherwise may have left an input open that never ends.
  const timer = setTimeout(() => void reader.cancel(), PATIENCE);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  while (bytes <= MOST) {
    const { value, done } = await reader.read();
    if (done) break;
    bytes += value.length;
    chunks.push(value);
  }
  clearTimeout(timer);
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
