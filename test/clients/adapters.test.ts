import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { startServer } from "../support/server.ts";

const ROOT = join(import.meta.dir, "..", "..");
const PACKAGE = join(ROOT, "src", "clients", "typescript");
const TSC = join(ROOT, "node_modules", "typescript", "bin", "tsc");
const ADAPTERS = [
  "ai-sdk",
  "anthropic-memory",
  "langgraph",
  "llamaindex",
  "mastra",
  "openai-agents",
];

const server = await startServer();
afterAll(server.close);

/** What a program with Bun says in the package's folder, where the frameworks are. */
async function run(...command: string[]) {
  const { key } = await server.account();
  const { PATH = "", HOME = "", TMPDIR = "/tmp" } = process.env;
  const child = Bun.spawn([process.execPath, ...command], {
    cwd: PACKAGE,
    env: { PATH, HOME, TMPDIR, CTXD_URL: server.origin, CTXD_KEY: key, NO_COLOR: "1" },
    ...{ stdout: "pipe", stderr: "pipe" },
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { output, errors, code: await child.exited };
}

/** The frameworks are development dependencies of the package, which has its own lock file. */
beforeAll(async () => {
  const installed = await run("install", "--frozen-lockfile", "--ignore-scripts", "--no-summary");
  expect(installed).toMatchObject({ code: 0 });
}, 300_000);

test("adapters, their tests and their examples have the types of the frameworks", async () => {
  for (const project of ["tsconfig.json", "test/tsconfig.json"]) {
    expect(await run(TSC, "--project", project)).toMatchObject({ output: "", code: 0 });
  }
});

describe.each(ADAPTERS)("the adapter for %s", (adapter) => {
  test("does what the framework's own package asks of it", async () => {
    const { errors, code } = await run("test", "--timeout", "60000", `./test/${adapter}.ts`);
    if (code !== 0) throw new Error(errors);
    expect(errors).toContain("\n 0 fail");
  });

  test("has an example that runs", async () => {
    const { output, errors, code } = await run(`examples/${adapter}.ts`);
    if (code !== 0) throw new Error(errors);
    expect(output).toContain("allergic to peanuts");
  });
});
