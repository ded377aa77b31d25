/**
 * Runs inside a server (`bun --preload`): notes how long its main thread is held at the most, and
 * tells it when asked over IPC. Wall time counts what a busy machine does beside it; the thread's own
 * CPU time does not, and leaves out waits for the disk.
 */
export interface Held {
  readonly wall: number;
  readonly cpu: number;
}

declare global {
  namespace NodeJS {
    interface Process {
      /** Of the calling thread, in microseconds. */
      threadCpuUsage(previous?: { user: number; system: number }): { user: number; system: number };
    }
  }
}

let longest = { wall: 0, cpu: 0 };
let last = now();

function now() {
  const { user, system } = process.threadCpuUsage();
  return { wall: performance.now(), cpu: (user + system) / 1_000 };
}

setInterval(() => {
  const next = now();
  longest = {
    wall: Math.max(longest.wall, next.wall - last.wall),
    cpu: Math.max(longest.cpu, next.cpu - last.cpu),
  };
  last = next;
}, 1);

process.on("message", () => {
  process.send?.(longest);
  longest = { wall: 0, cpu: 0 };
});
