import { join } from "node:path";
import type { Opened, Order } from "./process.ts";

const PROGRAM = join(import.meta.dir, "process.ts");

export type YearServer = Awaited<ReturnType<typeof startYearServer>>;

/**
 * Starts the real server in a process of its own, with its data in a temporary folder and a clock that is set.
 * @param cache the file that keeps what was embedded; null for a fake model
 */
export async function startYearServer(cache: string | null) {
  const opened = Promise.withResolvers<Opened>();
  let answered = Promise.withResolvers<void>();
  const child = Bun.spawn([process.execPath, PROGRAM, ...(cache === null ? [] : [cache])], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
    ipc(message: Opened | { done: true }) {
      if ("done" in message) answered.resolve();
      else opened.resolve(message);
    },
  });
  const ended = child.exited.then((code) => {
    throw new Error(`the year's server ended with ${code}`);
  });
  ended.catch(() => {});
  const send = async (order: Order) => {
    answered = Promise.withResolvers();
    child.send(order);
    await Promise.race([answered.promise, ended]);
  };
  const { origin, folder, now, keys } = await Promise.race([opened.promise, ended]);
  let clock = now;
  const setClock = async (time: number) => {
    clock = time;
    await send({ clock });
  };
  return {
    origin,
    /** The folder with all its data. */
    folder,
    /** Its clock at the start, in milliseconds since 1970. */
    start: now,
    keyOf: (person: string) => keys[person] ?? "",
    setClock,
    advance: (milliseconds: number) => setClock(clock + milliseconds),
    /** Waits until what has expired is removed. */
    settle: () => send({ settled: true }),
    async close() {
      child.disconnect();
      await child.exited;
    },
  };
}
