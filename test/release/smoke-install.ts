import { existsSync, mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { make as makeChecksums } from "../../src/build/release/checksums.ts";
import { make as makeScript } from "../../src/build/release/install-script.ts";
import { make as makePackages } from "../../src/build/release/npm/packages.ts";
import { executableName, targetNamed } from "../../src/native/targets.ts";
import { startingScript } from "../../src/system/shell.ts";
import { serveRegistry } from "../support/npm-registry.ts";
import { cleanEnvironment, runProgram, tryOut } from "../support/smoke.ts";

/**
 * Installs the executable of this system with npm and with the install script, from a local server:
 * `bun test/release/smoke-install.ts TARGET FOLDER`. It needs Node.js but no libraries.
 */
const [name = "", from = ""] = process.argv.slice(2);
const target = targetNamed(name);
const folder = mkdtempSync(join(tmpdir(), "ctxd-smoke-install-"));
const home = join(folder, "home");
const out = join(folder, "releases", "download", `v${version}`);
const env = { ...cleanEnvironment(), HOME: home };

async function run(command: string[], more: Record<string, string> = {}): Promise<void> {
  const output = await runProgram(command, { cwd: home, env: { ...env, ...more } });
  // The output ends with the version, or with a line that contains it.
  if (!output.includes(version))
    throw new Error(`${command.join(" ")} says no version:\n${output}`);
}

async function byNpm(): Promise<void> {
  const executables = { [target]: join(out, executableName(target)) };
  const repository = "https://github.com/owner/ctxd";
  await using registry = await serveRegistry(
    await makePackages({ version, repository, executables, out }),
  );
  await run(startingScript(["npx", "-y", "ctxd", "--version"]), {
    npm_config_registry: registry.url,
    npm_config_cache: join(folder, "npm"),
  });
}

async function byScript(): Promise<void> {
  await using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => new Response(Bun.file(join(folder, new URL(url).pathname.slice(12)))),
  });
  const release = { version, repository: `${server.url}owner/ctxd`, executables: {}, out };
  await makeChecksums(release);
  const [script = ""] = await makeScript(release);
  await run(["sh", script]);
  await run([join(home, ".local", "bin", "ctxd"), "--version"]);
}

await tryOut(folder, async () => {
  for (const path of [home, out]) mkdirSync(path, { recursive: true });
  const path = join(from, executableName(target));
  if (!existsSync(path)) throw new Error(`${path} does not exist`);
  await Bun.write(join(out, executableName(target)), Bun.file(path));
  await byNpm();
  console.log("npx starts it");
  if (!target.startsWith("windows")) {
    await byScript();
    console.log("the install script installs it");
  }
});
