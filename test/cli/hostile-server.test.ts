import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createRemoteServer } from "../../src/cli/server/remote-server.ts";
import { generateKey } from "../../src/keys/new-key.ts";
import { makeCertificate } from "../support/certificates.ts";
import { commandLine } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { freePort } from "../support/free-port.ts";
import { readLines } from "../support/lines.ts";
import { newMachine } from "../support/machine.ts";
import { outcomeOf } from "../support/outcome.ts";
import { startServer } from "../support/server.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(60_000);

const real = await startServer();
const { key } = await real.account();
afterAll(real.close);

const PROMPT = { session_id: "s", cwd: "/", hook_event_name: "UserPromptSubmit", prompt: "Hello?" };
const JSON_TYPE = { "content-type": "application/json" };

/** Yields for as long as it is read. */
async function* endless(pause = 0) {
  const bytes = Buffer.alloc(pause === 0 ? 1 << 16 : 1, " ");
  for (;;) {
    yield bytes;
    await Bun.sleep(pause);
  }
}

/** A server that accepts the key, and from then on does what the test wants. */
function serveHostile(answer: (request: Request) => Response) {
  let isHostile = false;
  /** The paths of requests. */
  const asked: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch(request) {
      asked.push(new URL(request.url).pathname);
      return isHostile ? answer(request) : Response.json({ jsonrpc: "2.0", id: 1, result: {} });
    },
  });
  const origin = `http://127.0.0.1:${server.port}`;
  return {
    origin,
    asked,
    beginHostility: () => {
      isHostile = true;
      asked.length = 0;
    },
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** A bridge to a server, and its answer to a call. */
async function askBridge(machine: ReturnType<typeof newMachine>, origin: string) {
  const command = commandLine(["mcp", "--url", origin], machine);
  const child = Bun.spawn(command, { env: machine.env, stdin: "pipe", stdout: "pipe" });
  child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/list" })}\n`);
  child.stdin.flush();
  const { value } = await readLines(child.stdout).next();
  child.stdin.end();
  expect(await child.exited).toBe(0);
  return JSON.parse(value ?? "null");
}

describe.each<[string, string, (request: Request) => Response]>([
  [
    "redirects",
    "ORIGIN redirects to another address: use that one instead.",
    () => Response.redirect("https://example.com/"),
  ],
  [
    "does not accept the key",
    "ORIGIN does not accept the API key: create another there, and run ctxd connect AGENT --url ORIGIN --key.",
    () => Response.json({ error: { message: "\u001b[2J" } }, { status: 401 }),
  ],
  [
    "is a web page",
    "ORIGIN is no server of ctxd, or not ready: it answered 200 (text/html).",
    () => new Response("<h1>\u001b[2J</h1>", { headers: { "content-type": "text/html" } }),
  ],
  [
    "sends an error with escapes",
    "Go away\ufffd[2J.",
    () => Response.json({ error: { message: "Go away\u001b[2J." } }, { status: 422 }),
  ],
])("a server that %s", (_, sentence, answer) => {
  test("is described in one sentence, and asked once", async () => {
    await using server = serveHostile(answer);
    const { origin, asked } = server;
    const machine = newMachine();
    expect(await machine.connect("claude-code", origin, key)).toMatchObject({ exitCode: 0 });
    server.beginHostility();
    const said = sentence.replaceAll("ORIGIN", origin);
    const recalled = await machine.hook(["recall", "--url", origin], PROMPT);
    const stderr = `ctxd: nothing was recalled: ${said}\n`;
    expect(recalled).toEqual({ stdout: "", stderr, exitCode: 0 });
    const { error } = await askBridge(machine, origin);
    expect(error.message.replaceAll("\u001b", "\ufffd")).toBe(said);
    expect(asked).toEqual(["/api/memories/recall", "/api/health/live", "/mcp"]);
    const refused = await newMachine().connect("claude-code", origin, key);
    expect(refused).toEqual({ stdout: "", stderr: `ctxd: ${said}\n`, exitCode: 1 });
  });
});

test.each<[string, () => Response]>([
  ["never ends its answer", () => new Response(endless() as never, { headers: JSON_TYPE })],
  [
    "answers one byte after the other",
    () => new Response(endless(200) as never, { headers: JSON_TYPE }),
  ],
  ["answers too much text", () => Response.json({ text: "x".repeat(2 << 20) })],
])("a server that %s costs an agent little time and nothing else", async (name, answer) => {
  await using server = serveHostile(answer);
  const machine = newMachine();
  expect(await machine.connect("claude-code", server.origin, key)).toMatchObject({ exitCode: 0 });
  server.beginHostility();
  const started = performance.now();
  const { stdout, exitCode } = await machine.hook(["recall", "--url", server.origin], PROMPT);
  expect(exitCode).toBe(0);
  expect(stdout.length).toBeLessThan(name.includes("text") ? 200_000 : 1);
  expect(performance.now() - started).toBeLessThan(15_000);
});

test("an answer that is too long or too slow ends, also one of events", async () => {
  const types = ["application/json", "text/event-stream"];
  for (const [type, pause, problem] of [
    ...types.map((type) => [type, 0, "too long"] as const),
    ...types.map((type) => [type, 20, "time"] as const),
  ]) {
    await using server = serveHostile(
      () => new Response(endless(pause) as never, { headers: { "content-type": type } }),
    );
    server.beginHostility();
    const patience = { beginning: 5_000, end: pause === 0 ? 30_000 : 500 };
    const remote = createRemoteServer(new URL(server.origin), () => key, patience);
    const response = await remote.request("/mcp", { method: "POST" });
    expect(await outcomeOf(response.text())).toThrow(problem);
  }
});

test("a server that does not begin to answer is given up in time, and the next message at once", async () => {
  const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const url = new URL(`http://127.0.0.1:${silent.port}`);
  const remote = createRemoteServer(url, () => key, { beginning: 200, end: 60_000 });
  expect(await outcomeOf(remote.request("/mcp", { method: "POST" }))).toThrow(
    `${url.origin} does not answer in time.`,
  );
  remote.forget();
  expect(await outcomeOf(remote.connect())).toThrow("does not answer in time");
  silent.stop(true);
});

test("nothing is written and no key is kept for a server that can't be used", async () => {
  const machine = newMachine();
  const nobody = `http://127.0.0.1:${freePort()}`;
  for (const [origin, given, problem] of [
    [
      nobody,
      key,
      `${nobody} can't be reached (ECONNREFUSED): ctxd doctor --url ${nobody} says why.`,
    ],
    [real.origin, generateKey(), "does not accept the API key"],
    ["http://memory.example.com", key, "unencrypted: use https"],
  ] as const) {
    const { exitCode, stderr } = await machine.connect("claude-code", origin, given, "--recall");
    expect(exitCode).toBe(1);
    expect(stderr).toContain(problem);
    expect(stderr).toMatch(/^ctxd: [^\n]+\n$/);
    expect(existsSync(machine.kept(origin))).toBe(false);
  }
  expect(readdirSync(machine.home).sort()).toEqual([".claude", ".codex"]);
});

test("without a kept key nothing is sent, and hooks and the bridge say what to do", async () => {
  const machine = newMachine();
  const { origin } = real;
  const missing = `No API key is kept here for ${origin}: run ctxd connect AGENT --url ${origin} --key.`;
  const said = (what: string) => ({
    stdout: "",
    stderr: `ctxd: nothing was ${what}: ${missing}\n`,
    exitCode: 0,
  });
  expect(await machine.hook(["recall", "--url", origin], PROMPT)).toEqual(said("recalled"));
  const turns = [{ role: "user", content: "Hello" }];
  expect(await machine.hook(["capture", "--url", origin], { turns })).toEqual(said("captured"));
  expect((await askBridge(machine, origin)).error.message).toBe(missing);
  expect(existsSync(machine.kept(origin))).toBe(false);
  for (const words of [["recall"], ["capture"]]) {
    const { exitCode, stderr } = await machine.hook([...words, "--url", "nonsense"], {
      prompt: "x",
      turns,
    });
    expect({ exitCode, stderr }).toEqual({
      exitCode: 0,
      stderr: expect.stringContaining("--url: Use an address"),
    });
  }
});

test("HTTPS works with a certificate that the machine trusts, and is refused with any other", async () => {
  const { cert, key: keyFile } = makeCertificate(temporaryFolder());
  await using server = Bun.serve({
    port: 0,
    tls: { cert: Bun.file(cert), key: Bun.file(keyFile) },
    fetch: (request) => fetch(new URL(new URL(request.url).pathname, real.origin), request),
  });
  const origin = `https://localhost:${server.port}`;
  const machine = newMachine();
  const refused = await machine.connect("claude-code", origin, key);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain("can't be reached (DEPTH_ZERO_SELF_SIGNED_CERT)");
  const trusting = newMachine({ NODE_EXTRA_CA_CERTS: cert });
  expect(await trusting.connect("claude-code", origin, key)).toMatchObject({ exitCode: 0 });
  expect((await askBridge(trusting, origin)).result.tools.length).toBe(7);
  const turns = [{ role: "user", content: "The gate is green." }];
  const captured = await trusting.hook(["capture", "--url", origin], { session_id: "tls", turns });
  expect(captured).toEqual({ stdout: "", stderr: "", exitCode: 0 });
  await until("the turn is sent", () => readdirSync(trusting.kept(origin, "unsent")).length === 0);
  const text = readFileSync(join(trusting.home, ".claude.json"), "utf8");
  expect(text).not.toContain(key);
});
