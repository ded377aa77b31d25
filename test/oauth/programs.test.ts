import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { findClient } from "../../src/connect/clients.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { pinnedVersions } from "../agents/install.ts";
import { launchOf, setUp } from "../agents/machine.ts";
import { startStandIn } from "../agents/model/stand-in.ts";
import { findProgram, type Program } from "../agents/programs.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";
import { until } from "../support/until.ts";
import { createBrowserProgram } from "./support/browser-program.ts";
import { codexServer } from "./support/codex-server.ts";
import { type OAuthServer, startOAuthServer } from "./support/oauth-server.ts";
import { createPerson, formTo, type Page, type Person } from "./support/person.ts";

const PASSWORD = "correct horse";
const FACT = "Sam is allergic to peanuts.";
const HOUR = 3_600_000;

type Machine = Awaited<ReturnType<typeof createMachine>>;

/** How an agent signs in. */
interface SignIn {
  /** Its id for `ctxd connect`. */
  id: string;
  login: string[];
  /** What the consent page calls it at its first sign-in. */
  name: string;
  /** What it says about the server, after it has tried to use it. */
  check: (machine: Machine) => Promise<string>;
  connected: RegExp;
  signedOut: RegExp;
}

const list = async ({ run }: Machine) => await run("mcp", "list");

const CODEX: SignIn = {
  id: "codex",
  login: ["mcp", "login", "ctxd"],
  name: "chatgpt.com (not verified)",
  async check(machine) {
    await using server = codexServer(machine.spawn("app-server"));
    return `${await list(machine)}${await server.begin(machine.home)}`;
  },
  connected: /^ctxd .* OAuth *\n\s*ready$/m,
  signedOut: /Run `codex mcp login ctxd`/,
};

/** The others are large: `LONG=1` installs them too. */
const OTHERS: SignIn[] = [
  {
    id: "claude-code",
    login: ["mcp", "login", "ctxd"],
    name: "claude.ai (not verified)",
    check: list,
    connected: /^ctxd: .* Connected$/m,
    signedOut: /^ctxd: .* Needs authentication$/m,
  },
  {
    id: "opencode",
    login: ["mcp", "auth", "ctxd"],
    name: "OpenCode",
    check: list,
    connected: /✓ ctxd/,
    signedOut: /ctxd .*needs authentication/,
  },
];

/** A person's computer with a program from npm, a stand-in for its model, and the browser that it opens. */
async function createMachine(program: Program) {
  const home = temporaryFolder();
  // `codex exec` works in repositories only.
  Bun.spawnSync(["git", "init", "--quiet", home]);
  const model = startStandIn();
  const browser = createBrowserProgram(join(home, "bin"));
  setUp(home, program, model.origin);
  const { command, env } = await launchOf(program, model.origin);
  const PATH = `${browser.env.PATH}:${env.PATH}`;
  const options = { cwd: home, env: { HOME: home, ...env, ...browser.env, PATH } };
  const spawn = (...args: string[]) =>
    Bun.spawn([...command, ...args], {
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
      const child = Bun.spawn([...command, ...args], { ...options, terminal: {} });
      const exitCode = await child.exited;
      child.terminal?.close();
      return exitCode;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await model.close();
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
    const { programs, package: name } = findProgram(id);
    const versions = await pinnedVersions(programs);
    const help = await Bun.file(join(import.meta.dir, "../../src/help/measurements.md")).text();
    expect(help).toContain(`| ${findClient(id)?.name} ${versions[name]} |`);
  },
);

describe.each(process.env.LONG ? [CODEX, ...OTHERS] : [CODEX])("$id", (agent) => {
  let server: OAuthServer;
  beforeAll(async () => {
    server = await startOAuthServer({
      fetchDocument: () => {
        throw Object.assign(new Error("no address"), { code: "ENOTFOUND" });
      },
    });
  });
  afterAll(() => server.close());

  test("signs in without the internet, renews its token, saves, and asks for a sign-in after a revocation", async () => {
    const { id: accountId } = await server.accounts.add({
      email: "you@example.com",
      password: PASSWORD,
    });
    const grants = () => server.oauth.grants.list(accountId);
    const person = createPerson(server.origin);
    const program = findProgram(agent.id);
    await using machine = await createMachine(program);
    const { check, connected, signedOut } = agent;
    const signIn = async () => {
      const login = machine.inTerminal(...agent.login);
      const { text } = await allow(person, await machine.browser.next());
      expect(await login).toBe(0);
      expect(await check(machine)).toMatch(connected);
      return text;
    };

    const args = ["connect", agent.id, "--url", server.origin, "--allow", "--yes"];
    expect(await ctxd(args, { env: { HOME: machine.home } })).toMatchObject({ exitCode: 0 });
    expect(await check(machine)).toMatch(signedOut);
    const consent = await signIn();
    expect(consent).toContain(`<bdi>${agent.name}</bdi>`);
    expect(consent).toContain("This is a program on your own computer.");

    server.clock.advance(HOUR);
    const order = program.prompt?.(`REMEMBER: ${FACT}`) ?? [];
    // It is asked again where it has begun before it knew the tools.
    await until("its model has saved", async () => /mem_/.test(await machine.run(...order)));
    expect(await check(machine)).toMatch(connected);
    const page = { filter: {}, limit: 10 };
    const { memories } = await server.memories.list(wholeAccount(accountId), page);
    expect(memories.map(({ content }) => content)).toContain(FACT);

    const [grant] = await grants();
    const path = `/agents/${grant?.id}/revoke`;
    await person.submit(formTo(await person.visit(path), path));
    expect(await check(machine)).toMatch(signedOut);
    await signIn();
    expect((await grants()).map(({ revokedAt }) => revokedAt === null)).toEqual([false, true]);
  }, 300_000);
});
