import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { makeRelease } from "../../src/build/release/release.ts";
import { executableName, ownTargetName, targetNamed } from "../../src/native/targets.ts";
import { emptyRoot } from "../support/empty-root.ts";
import { buildExecutable } from "../support/executable.ts";
import { connectProgram, shownIn } from "../support/mcp.ts";
import { serveRegistry } from "../support/npm-registry.ts";

/**
 * Installs ctxd in an almost empty root file system from a local server, and saves a first memory:
 * `LONG=1 bun test test/release/empty-root.test.ts`. Prints sizes and times.
 */
const TIMEOUT = 20 * 60_000;
const [bwrap, npm, node, busybox, dash] = ["bwrap", "npm", "node", "busybox", "dash"].map((name) =>
  Bun.which(name),
);
const isWanted = Boolean(process.env.LONG) && process.platform === "linux" && bwrap !== null;
const folder = mkdtempSync(join(tmpdir(), "ctxd-ways-"));
let executable = "";
let tarballs: string[] = [];
let server: Bun.Server<undefined>;

beforeAll(async () => {
  if (!isWanted) return;
  executable = await buildExecutable();
  const own = targetNamed(ownTargetName());
  const out = join(folder, "releases", "download", `v${version}`);
  mkdirSync(out, { recursive: true });
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response(Bun.file(join(folder, new URL(url).pathname.slice(12)))),
  });
  const path = join(out, executableName(own));
  await Bun.write(path, Bun.file(executable));
  const release = {
    version,
    repository: `${server.url}owner/ctxd`,
    executables: { [own]: path },
    out,
  };
  tarballs = (await makeRelease(release, ["npm"])).filter((each) => each.endsWith(".tgz"));
  await makeRelease(release, ["install-script", "checksums"]);
}, TIMEOUT);

afterAll(async () => {
  await server?.stop(true);
  rmSync(folder, { recursive: true });
});

/** Runs a command without blocking the servers of this test. */
async function run(command: string[]) {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out, errors, exitCode: await child.exited };
}

/** Saves a memory over MCP and finds it by its meaning. Returns the milliseconds that it took. */
async function firstMemory([command = "", ...args]: readonly string[]): Promise<number> {
  const start = performance.now();
  await using client = await connectProgram("v1", { command, args, env: {} });
  const content = "My daughter is allergic to peanuts.";
  await client.call("save_memory", { content });
  const found = await client.call("search_memories", { query: "what food must the child avoid" });
  expect(shownIn(found)).toMatchObject([{ content }]);
  return performance.now() - start;
}

describe.skipIf(!isWanted)("in an empty root", () => {
  test.skipIf(!npm || !node || !dash)(
    "with Node.js, npx ctxd mcp needs no further setup",
    async () => {
      await using registry = await serveRegistry(tarballs);
      using root = emptyRoot();
      root.addProgram(`${node}`, "/usr/bin/node");
      root.addProgram(`${dash}`, "/bin/sh");
      root.addProgram("/usr/bin/env");
      root.addLibc(executable);
      root.addFolder(dirname(dirname(realpathSync(`${npm}`))), "/usr/lib/npm");
      const npx = (...words: string[]) =>
        root.inside(["node", "/usr/lib/npm/bin/npx-cli.js", "-y", "ctxd", ...words], {
          npm_config_registry: registry.url,
        });
      const command = npx("mcp");
      const took = await firstMemory(command);
      const again = await firstMemory(command);
      // npx may clear its cache, so no settings of agents and no service may contain its path.
      const { out } = await run(npx("connect", "cursor", "--print"));
      expect(out).toMatch(/"command": "npx",\s+"args": \[\s*"-y",\s+"--prefer-offline",\s+"ctxd"/);
      const { errors } = await run(npx("service", "install"));
      expect(errors).toContain("npx ctxd keeps the program in a cache");
      const bytes = registry.asked
        .filter((path) => path.endsWith(".tgz"))
        .flatMap((path) => tarballs.find((each) => basename(each) === basename(path)) ?? [])
        .reduce((sum, path) => sum + statSync(path).size, 0);
      console.log(`npx: ${seconds(took)}, ${bytes} bytes fetched; once more: ${seconds(again)}`);
    },
    TIMEOUT,
  );

  test.skipIf(!busybox)(
    "the install script needs a shell with its usual commands",
    async () => {
      using root = emptyRoot();
      root.addProgram(`${busybox}`, "/bin/busybox");
      Bun.spawnSync(root.inside(["/bin/busybox", "--install", "-s", "/bin"]));
      root.addLibc(executable);
      const fetched = `wget -q -O - ${server.url}owner/ctxd/releases/download/v${version}/install.sh`;
      const start = performance.now();
      const installed = await run(root.inside(["sh", "-c", `${fetched} | sh`]));
      expect(installed).toMatchObject({ exitCode: 0, errors: "" });
      expect(installed.out).toContain("Installed: /root/.local/bin/ctxd");
      const took = performance.now() - start;
      const found = await firstMemory(root.inside(["/root/.local/bin/ctxd", "mcp"]));
      const { size } = statSync(executable);
      console.log(
        `install.sh: ${seconds(took)}, ${size} bytes fetched; first memory ${seconds(found)} later`,
      );
    },
    TIMEOUT,
  );

  test.skipIf(!busybox)("the install script refuses musl in one sentence", async () => {
    using root = emptyRoot();
    root.addProgram(`${busybox}`, "/bin/busybox");
    Bun.spawnSync(root.inside(["/bin/busybox", "--install", "-s", "/bin"]));
    mkdirSync(join(root.path, "lib"), { recursive: true });
    symlinkSync("/bin/busybox", join(root.path, "lib", "ld-musl-x86_64.so.1"));
    const script = `${server.url}owner/ctxd/releases/download/v${version}/install.sh`;
    const done = await run(root.inside(["sh", "-c", `wget -q -O - ${script} | sh`]));
    expect(done.exitCode).toBe(1);
    expect(done.errors).toBe(
      "ctxd was not installed: ctxd needs a Linux with glibc 2.28 or later; this one has musl (Alpine, say).\n",
    );
  });
});

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}
