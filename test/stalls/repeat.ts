import { constants, setPriority } from "node:os";

/** Requests that are under way at once. */
const AT_ONCE = 4;
/** Milliseconds after which a request is repeated no more. */
const PATIENCE = 30_000;

/** A request as it is sent to another process. */
interface Repeated {
  readonly url: string;
  readonly method: string;
  readonly headers: [string, string][];
  readonly body: ArrayBuffer | null;
}

/**
 * Repeats a request, several at once, in a process of its own: otherwise whoever measures would wait for the reading of
 * its answers. The process has the lowest priority, since such a client would run on another machine.
 * @returns a function that ends it
 */
export async function repeat(url: string, init: RequestInit): Promise<() => Promise<void>> {
  const request = new Request(url, init);
  const { method } = request;
  const headers = [...request.headers];
  const body = method === "GET" ? null : await request.arrayBuffer();
  const child = Bun.spawn([process.execPath, import.meta.path], {
    stdio: ["ignore", "inherit", "inherit"],
    serialization: "advanced",
    ipc() {},
  });
  setPriority(child.pid, constants.priority.PRIORITY_LOW);
  child.send({ url, method, headers, body } satisfies Repeated);
  return async () => {
    child.kill();
    await child.exited;
  };
}

if (import.meta.main) {
  process.on("message", ({ url, ...init }: Repeated) => {
    const signal = AbortSignal.timeout(PATIENCE);
    const send = async () => {
      while (!signal.aborted) {
        await fetch(url, { ...init, redirect: "manual", signal }).then(
          (response) => response.arrayBuffer(),
          () => {},
        );
      }
    };
    for (let one = 0; one < AT_ONCE; one++) void send();
  });
}
