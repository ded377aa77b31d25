import type { EmbeddedMemory, Question, RunningPeer } from "./peer.ts";

type Method = (...args: never[]) => unknown;
type Answer = { readonly value: unknown } | { readonly error: string };

/** A module of this bench that runs as a program of its own. */
export interface Program<Methods> {
  readonly pid: number;
  call<Name extends keyof Methods & string>(
    name: Name,
    ...args: Methods[Name] extends (...args: infer Args) => unknown ? Args : never
  ): Promise<Methods[Name] extends Method ? Awaited<ReturnType<Methods[Name]>> : never>;
  end(): Promise<void>;
}

/**
 * Starts a module that calls `answerCalls`, and resolves when it has done so. It gets one call at a time.
 * @throws Error with what it says when it ends instead
 */
export async function startProgram<Methods>(
  module: string,
  ...args: readonly string[]
): Promise<Program<Methods>> {
  let waiting = Promise.withResolvers<unknown>();
  const child = Bun.spawn([process.execPath, module, ...args], {
    ...{ stdin: "ignore", stdout: "ignore", stderr: "pipe", serialization: "advanced" },
    ipc(answer: Answer) {
      if ("error" in answer) waiting.reject(new Error(answer.error));
      else waiting.resolve(answer.value);
    },
  });
  void child.stderr.text().then((said) => waiting.reject(new Error(said.trim())));
  await waiting.promise;
  return {
    pid: child.pid,
    call(name, ...args) {
      waiting = Promise.withResolvers();
      child.send([name, args]);
      // The program's methods are those of the type.
      return waiting.promise as never;
    },
    async end() {
      child.kill();
      await child.exited;
    },
  };
}

/** Answers the calls of the process that started this one. */
export function answerCalls(methods: Record<string, Method>): void {
  process.on("message", async ([name, args]: [string, never[]]) => {
    try {
      process.send?.({ value: await methods[name]?.(...args) });
    } catch (error) {
      process.send?.({ error: String(error) });
    }
  });
  process.on("disconnect", () => process.exit());
  process.send?.({ value: "ready" });
}

/** What a program does with a library that has no process of its own. */
export interface Library {
  load(memories: readonly EmbeddedMemory[]): unknown;
  search(question: Question): string;
  close(): unknown;
}

/** Starts a module that answers as a `Library`, which keeps its files in a folder. */
export async function startLibrary(module: string, folder: string): Promise<RunningPeer> {
  const { pid, call, end } = await startProgram<Library>(module, folder);
  return {
    pid,
    load: (memories) => call("load", memories),
    save: (memory) => call("load", [memory]),
    search: (question) => call("search", question),
    async stop() {
      await call("close");
      await end();
    },
  };
}
