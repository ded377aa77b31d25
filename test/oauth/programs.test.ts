import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { findClient } from "../../src/connect/clients.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { createBrowserProgram } from "./support/browser-program.ts";
import { codexServer } from "./support/codex-server.ts";
import { type OAuthServer, startOAuthServer } from "./support/oauth-server.ts";
import { createPerson, formTo, type Page, type Person } from "./support/person.ts";

const PROGRAMS = join(import.meta.dir, "programs");
/** Nothing listens there: no program reaches the internet. */
const NOWHERE = "http://127.0.0.1:9";
const PASSWORD = "correct horse";
const HOUR = 3_600_000;

type Machine = ReturnType<typeof createMachine>;

/** A real agent from npm, in a folder of `programs` with its lock file. */
interface Program {
  /** Its id for `ctxd connect`, and its folder. */
  id: string;
  /** The command that starts it, in `node_modules`. */
  start: (modules: string) => string[];
  /** Its folder in the home folder, which shows that it has run. */
  folder: string;
  login: string[];
  /** What the consent page calls it at its first sign-in. */
  name: string;
  env?: Record<string, string>;
  /** What it says about the server, after it has tried to use it. */
  check: (machine: Machine) => Promise<string>;
  connected: RegExp;
  signedOut: RegExp;
}

const list = async ({ run }: Machine) => await run("mcp", "list");

const CODEX: Program = {
  id: "codex",
  start: (modules) => ["node", join(modules, ".bin", "codex")],
  folder: ".codex",
  login: ["mcp", "login", "ctxd"],
  name: "chatgpt.com (not verified)",
  async check(machine) {
    await using server = codexServer(machine.spawn("app-server"));
    const { threadId, status } = await server.begin(machine.home);
    if (status !== "ready") return status;
    const content = "Sam is allergic to peanuts";
    const { result } = await server.callTool(threadId, "save_memory", { content });
    return `${await list(machine)}${JSON.stringify(result)}`;
  },
  connected: /^ctxd .* OAuth *\n.* as mem_/m,
  signedOut: /Run `codex mcp login ctxd`/,
};

/** The others are large: `LONG=1` installs them too. */
const OTHERS: Program[] = [
  {
    id: "claude-code",
    start: (modules) => ["node", join(modules, "@anthropic-ai", "claude-code", "cli-wrapper.cjs")],
    folder: ".claude",
    login: ["mcp", "login", "ctxd"],
    name: "claude.ai (not verified)",
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1" },
    check: list,
    connected: /^ctxd: .* Connected$/m,
    signedOut: /^ctxd: .* Needs authentication$/m,
  },
  {
    id: "opencode",
    // Its install script would copy this file.
    start: (modules) => [
      join(modules, `opencode-${process.platform}-${process.arch}`, "bin", "opencode"),
    ],
    folder: ".config/opencode",
    login: ["mcp", "auth", "ctxd"],
    name: "OpenCode",
    env: { OPENCODE_DISABLE_AUTOUPDATE: "1", OPENCODE_DISABLE_MODELS_FETCH: "1" },
    check: list,
    connected: /✓ ctxd/,
    signedOut: /ctxd .*needs authentication/,
  },
];

/** A person's computer with a program from npm, and the browser that it opens. */
function createMachine({ id, start, folder, env = {} }: Program) {
  const home = temporaryFolder();
  const modules = join(PROGRAMS, id, "node_modules");
  const browser = createBrowserProgram(join(home, "bin"));
  mkdirSync(join(home, folder), { recursive: true });
  const options = {
    cwd: home,
    env: {
      ...{ HOME: home, NO_COLOR: "1", HTTPS_PROXY: NOWHERE, HTTP_PROXY: NOWHERE },
      ...{ NO_PROXY: "localhost,127.0.0.1", ...browser.env, ...env },
    },
  };
  const spawn = (...args: string[]) =>
    Bun.spawn([...start(modules), ...args], {
      ...options,
      ...{ stdin: "pipe", stdout: "pipe", stderr: "ignore" },
    });

  return {
    home,
    browser,
    spawn,
    /** Runs the program, and gives what it writes. */
    async run(...args: string[]) {
      const child = spawn(...args);
      child.stdin.end();
      return await child.stdout.text();
    },
    /** Runs the program in a terminal. Gives its exit code. */
    async inTerminal(...args: string[]) {
      const child = Bun.spawn([...start(modules), ...args], { ...options, terminal: {} });
      const exitCode = await child.exited;
      child.terminal?.close();
      return exitCode;
    },
  };
}

/** Signs in, or proves who it is, and allows what a program asks for. Gives the consent page. */
async function allow(person: Person, address: string): Promise<Page> {
  const entered = { email: "you@example.com", password: PASSWORD, proof_password: PASSWORD };
  const consent = await person.submit(await person.visit(address), entered);
  const { location } = await person.submit(consent, { decision: "allow" });
  expect((await fetch(location ?? "")).status).toBe(200);
  return consent;
}

test.each([CODEX, ...OTHERS])(
  "the help names the version of $id that signs in here",
  async ({ id }) => {
    const { dependencies } = await import(join(PROGRAMS, id, "package.json"));
    const help = await Bun.file(
      join(import.meta.dir, "..", "..", "src", "help", "agents.md"),
    ).text();
    const name = findClient(id)?.name;
    expect(help).toContain(`| ${name} ${Object.values(dependencies)[0]} |`);
  },
);

describe.each(process.env.LONG ? [CODEX, ...OTHERS] : [CODEX])("$id", (program) => {
  let server: OAuthServer;
  beforeAll(async () => {
    server = await startOAuthServer({
      fetchDocument: () => {
        throw Object.assign(new Error("no address"), { code: "ENOTFOUND" });
      },
    });
    const install = ["install", "--frozen-lockfile", "--ignore-scripts", "--no-summary"];
    const cwd = join(PROGRAMS, program.id);
    expect(await Bun.spawn([process.execPath, ...install], { cwd, stderr: "ignore" }).exited).toBe(
      0,
    );
  }, 300_000);
  afterAll(() => server.close());

  test("signs in without the internet, renews its token, and asks for a sign-in after a revocation", async () => {
    const { id: accountId } = await server.accounts.add({
      email: "you@example.com",
      password: PASSWORD,
    });
    const grants = () => server.oauth.grants.list(accountId);
    const person = createPerson(server.origin);
    const machine = createMachine(program);
    await using _ = { [Symbol.asyncDispose]: machine.browser.close };
    const { check, connected, signedOut } = program;
    const signIn = async () => {
      const login = machine.inTerminal(...program.login);
      const { text } = await allow(person, await machine.browser.next());
      expect(await login).toBe(0);
      expect(await check(machine)).toMatch(connected);
      return text;
    };

    const args = ["connect", program.id, "--url", server.origin, "--yes"];
    expect(await ctxd(args, { env: { HOME: machine.home } })).toMatchObject({ exitCode: 0 });
    expect(await check(machine)).toMatch(signedOut);
    const consent = await signIn();
    expect(consent).toContain(`<bdi>${program.name}</bdi>`);
    expect(consent).toContain("This is a program on your own computer.");

    server.clock.advance(HOUR);
    expect(await check(machine)).toMatch(connected);

    const [grant] = await grants();
    const path = `/apps/${grant?.id}/revoke`;
    await person.submit(formTo(await person.visit(path), path));
    expect(await check(machine)).toMatch(signedOut);
    await signIn();
    expect((await grants()).map(({ revokedAt }) => revokedAt === null)).toEqual([false, true]);
  }, 240_000);
});
