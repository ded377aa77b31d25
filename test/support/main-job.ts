/** The first steps of a user, as a separate program that can run in another network. */
const SAVE_AND_FIND = `
  const { BASE, KEY } = process.env;
  const headers = { authorization: "Bearer " + KEY, "content-type": "application/json" };
  for (const content of [
    "My daughter is allergic to peanuts.",
    "The router stands behind the bookshelf.",
    "Invoices are due on the first Monday of the month.",
  ]) {
    const body = JSON.stringify({ content });
    const { status } = await fetch(BASE + "/api/memories", { method: "POST", headers, body });
    if (status !== 201) throw new Error("saving answered " + status);
  }
  const query = new URLSearchParams({ q: "what food must the child avoid" });
  const answer = await fetch(BASE + "/api/memories/search?" + query, { headers });
  console.log((await answer.json()).memories[0].content);
`;

/** Where the executable runs. */
export interface Place {
  cwd: string;
  /** The executable, `./ctxd` by default. */
  executable?: string;
  /** Arguments of `serve`. */
  serve?: readonly string[];
  /** What starts a program there. */
  wrap?: (command: string[]) => string[];
  /** What starts a client that reaches a server with this process id. */
  near?: (pid: number) => string[];
  env: Record<string, string>;
}

/** Makes an account and a key, saves three memories, finds one, stops; what was found and said. */
export async function useOnce({
  cwd,
  executable = "./ctxd",
  serve = ["--port", "0"],
  wrap = (command) => command,
  near = () => [],
  env,
}: Place) {
  const run = async (args: string[], input = "") => {
    const child = Bun.spawn(wrap([executable, ...args]), {
      cwd,
      env,
      stdin: new Blob([input]),
      stdout: "pipe",
      stderr: "pipe",
    });
    const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    if ((await child.exited) !== 0) throw new Error(errors);
    return output.trim();
  };
  await run(["user", "add", "you@example.com"], "correct horse battery\n");
  const key = await run(["key", "create", "--user", "you@example.com", "--name", "test"]);

  const server = Bun.spawn(wrap([executable, ...serve]), {
    cwd,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  try {
    const base = await addressOf(server.stderr);
    const client = Bun.spawn([...near(server.pid), process.execPath, "-e", SAVE_AND_FIND], {
      env: { BASE: base, KEY: key },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [found, errors] = await Promise.all([client.stdout.text(), client.stderr.text()]);
    server.kill("SIGTERM");
    return { found: found.trim(), errors, exitCode: await server.exited };
  } finally {
    server.kill("SIGKILL");
  }
}

/** The address that a server says it has. */
export function addressOf(stderr: ReadableStream<Uint8Array>): Promise<string> {
  return findIn(stderr, /http:\S+:\d+/);
}

/** The link that makes the owner's account, as a server says it. */
export function setUpLinkOf(stderr: ReadableStream<Uint8Array>): Promise<string> {
  return findIn(stderr, /http:\S+\/setup\?token=[\w-]{43}/);
}

async function findIn(stderr: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  let said = "";
  const decoder = new TextDecoder();
  for await (const bytes of stderr) {
    said += decoder.decode(bytes, { stream: true });
    const [found] = pattern.exec(said) ?? [];
    if (found) return found;
  }
  throw new Error(`the server ended: ${said}`);
}

/** What it comes to when all goes well. */
export const RIGHT = { found: "My daughter is allergic to peanuts.", errors: "", exitCode: 0 };
