/**
 * Runs inside a server (`bun --preload`). Measures the longest time for which its main thread is blocked,
 * and reports it over IPC. Wall time includes other work of a busy machine; the thread's CPU time does not,
 * and leaves out waits for the disk.
 */
export interface Held {
  readonly wall: number;
  readonly cpu: number;
}

declare global {
  namespace NodeJS {
    interface Process {
      /** CPU time of the calling thread, in microseconds. */
      threadCpuUsage(previous?: { user: number; system: number }): { user: number; system: number };
    }
  }
}

const NONE = { wall: 0, cpu: 0 };
let longest = NONE;
let last = now();

function now() {
  const { user, system } = process.threadCpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1_000 };
}

function measureStep(): void {
  const next = now();
  longest = {
    wall: Math.max(longest.wall, next.wall - last.wall),
    cpu: Math.max(longest.cpu, next.cpu - last.cpu),
  };
  last = next;
}

setInterval(measureStep, 1);

process.on("message", () => {
  // A step may have begun long before, such as the start of the server.
  measureStep();
  process.send?.(longest);
  longest = NONE;
});
