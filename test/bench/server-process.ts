import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");

/** A server that runs in a process of its own. */
export interface ServerProcess {
  readonly pid: number;
  readonly origin: string;
  /** Its warnings and errors, and those of its libraries. */
  readonly remarks: readonly string[];
  stop(): Promise<void>;
}

/** How `ctxd` is run: the executable when there is one, else the checkout, which is this one. */
export function commandOf(executable: string | null, checkout: string | null = null): string[] {
  return executable ? [executable] : [process.execPath, join(checkout ?? ROOT, "src", "main.ts")];
}

/** Where a bench keeps its data. */
export interface Folders {
  readonly data: string;
  readonly cache: string;
  /** Of a model other than the built-in one. */
  readonly model?: string;
  /** What the server shares with others. */
  readonly shared?: Readonly<Record<string, string>>;
}

/** Makes an account on an empty data folder, and gives a key for it. */
export async function createKey(command: readonly string[], folders: Folders): Promise<string> {
  const email = "bench@example.com";
  await run([...command, "user", "add", email], folders, "a password for the bench\n");
  return run([...command, "key", "create", "--user", email, "--name", "bench"], folders, "");
}

async function run(command: string[], folders: Folders, input: string): Promise<string> {
  const child = Bun.spawn(command, {
    stdin: new Blob([input]),
    stdout: "pipe",
    stderr: "pipe",
    env: environment(folders),
  });
  const [stdout, stderr, exitCode] = await Promise.all([
    child.stdout.text(),
    child.stderr.text(),
    child.exited,
  ]);
  if (exitCode !== 0) throw new Error(`${command.slice(-6).join(" ")}: ${stderr.trim()}`);
  return stdout.trim();
}

/** Starts a server and resolves as soon as it says where it listens. */
export async function startServer(
  command: readonly string[],
  folders: Folders,
): Promise<ServerProcess> {
  const child = Bun.spawn([...command, "serve"], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    env: environment(folders),
  });
  const remarks: string[] = [];
  let last = "";
  const listening = Promise.withResolvers<string>();

  const read = async () => {
    for await (const line of linesOf(child.stderr)) {
      last = line;
      const port = /listening on \S+:(\d+)/.exec(line)?.[1];
      if (port) listening.resolve(`http://127.0.0.1:${port}`);
      else if (/ (warn|error) |WARN|ERROR|panic/i.test(line)) remarks.push(line);
    }
    listening.reject(new Error(`the server did not start: ${last}`));
  };
  void read();

  return {
    pid: child.pid,
    origin: await listening.promise,
    remarks,
    async stop() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

/** Nothing of the surroundings reaches the server, so that runs can be compared. */
export function environment({ data, cache, model, shared }: Folders): Record<string, string> {
  return {
    HOME: "/nonexistent",
    CTXD_PORT: "0",
    CTXD_DATA_DIR: data,
    CTXD_CACHE_DIR: cache,
    CTXD_RATE_LIMIT: "off",
    ...(model && { CTXD_MODEL: model }),
    ...shared,
  };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}
