import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { make as makeChecksums } from "../../src/build/release/checksums.ts";
import { make } from "../../src/build/release/install-script.ts";
import { executableName, ownTargetName, TARGET_NAMES, TARGETS } from "../../src/native/targets.ts";

/** The programs that the script needs, beside a shell and a program for downloads. */
const TOOLS = ["cat", "chmod", "cut", "dirname", "getconf", "grep", "head", "ldd", "mkdir"]
  .concat(["mktemp", "mv", "rm", "rmdir", "sed", "sha256sum", "shasum", "sort", "uname", "sh"])
  .flatMap((name) => Bun.which(name) ?? []);
const own = TARGET_NAMES.find((name) => name === ownTargetName());
const canRun = process.platform !== "win32" && own !== undefined;
const folder = mkdtempSync(join(tmpdir(), "ctxd-install-"));
const script = join(folder, "install.sh");
let server: Bun.Server<undefined>;

/** A release of this version. Its executable is a script that prints the version. */
async function release(version: string): Promise<void> {
  const out = join(folder, "served", `v${version}`);
  mkdirSync(out, { recursive: true });
  if (own) await Bun.write(join(out, executableName(own)), `#!/bin/sh\necho ${version}\n`);
  const repository = `${server.url}owner/ctxd`;
  const made = { version, repository, executables: {}, out };
  await makeChecksums(made);
  if (version === "0.2.0") await make({ ...made, out: folder });
}

/** A folder with only these programs, as the PATH. */
function pathWith(programs: readonly string[], stubs: Record<string, string> = {}): string {
  const path = mkdtempSync(join(folder, "path-"));
  for (const program of programs) symlinkSync(program, join(path, basename(program)));
  for (const [name, line] of Object.entries(stubs)) {
    rmSync(join(path, name), { force: true });
    Bun.spawnSync(["sh", "-c", `printf '#!/bin/sh\\n%s\\n' '${line}' > '${join(path, name)}'`]);
    chmodSync(join(path, name), 0o755);
  }
  return path;
}

function newHome(): string {
  return mkdtempSync(join(folder, "home-"));
}

async function run(home: string, args: string[] = [], path = pathWith([...TOOLS, ...curl])) {
  const child = Bun.spawn([Bun.which("sh") ?? "sh", script, ...args], {
    env: { HOME: home, PATH: path },
    cwd: home,
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { out, errors: errors.trim(), exitCode: await child.exited };
}

const curl = [Bun.which("curl") ?? []].flat();
const wget = [Bun.which("wget") ?? []].flat();

beforeAll(async () => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) => {
      const path = new URL(url).pathname.replace("/owner/ctxd/releases/download/", "");
      const file = Bun.file(join(folder, "served", path));
      return file.size > 0 ? new Response(file) : new Response("", { status: 404 });
    },
  });
  for (const version of ["0.1.0", "0.2.0"]) await release(version);
});

afterAll(async () => {
  await server.stop(true);
  rmSync(folder, { recursive: true });
});

describe.skipIf(!canRun)("the install script", () => {
  test.skipIf(curl.length === 0)(
    "installs this version, or another one, and removes it again",
    async () => {
      const home = newHome();
      const target = join(home, ".local", "bin", "ctxd");
      const first = await run(home);
      expect(first).toMatchObject({ exitCode: 0, errors: "" });
      expect(first.out).toContain(`Installed: ${target} (0.2.0)`);
      expect(first.out).toContain(`export PATH="${join(home, ".local", "bin")}:$PATH"`);
      expect(readdirSync(join(home, ".local", "bin"))).toEqual(["ctxd"]);
      const record = join(home, ".local", "share", "ctxd-install", "ctxd.install.json");
      expect(await Bun.file(record).json()).toEqual({
        by: "install.sh",
        version: "0.2.0",
        path: target,
      });
      expect(await run(home, ["--version", "v0.1.0"])).toMatchObject({ exitCode: 0 });
      expect(Bun.spawnSync([target]).stdout.toString()).toBe("0.1.0\n");
      await Bun.write(join(home, ".local", "share", "ctxd", "kept"), "mine");
      await Bun.write(`${target}.old`, "the former one");
      expect((await run(home, ["--uninstall"])).out).toContain(`Removed: ${target}`);
      expect(readdirSync(join(home, ".local", "bin"))).toEqual([]);
      expect(readdirSync(join(home, ".local", "share"))).toEqual(["ctxd"]);
      expect((await run(home, ["--uninstall"])).errors).toStartWith("ctxd was not removed: this");
    },
  );

  test.skipIf(wget.length === 0)("uses wget without curl", async () => {
    const home = newHome();
    const done = await run(home, ["--dir", "tools"], pathWith([...TOOLS, ...wget]));
    expect(done).toMatchObject({ exitCode: 0, errors: "" });
    expect(readdirSync(join(home, "tools"))).toEqual(["ctxd"]);
  });

  test.skipIf(curl.length === 0)("changes nothing when the download is damaged", async () => {
    const home = newHome();
    await run(home);
    const file = join(folder, "served", "v0.3.0", executableName(own ?? "linux-x64"));
    await release("0.3.0");
    await Bun.write(file, "#!/bin/sh\necho something else\n");
    const done = await run(home, ["--version", "0.3.0"]);
    expect(done).toMatchObject({ exitCode: 1 });
    expect(done.errors).toMatch(/^ctxd was not installed: the download is damaged: its SHA-256/);
    expect(readdirSync(join(home, ".local", "bin"))).toEqual(["ctxd"]);
    expect(Bun.spawnSync([join(home, ".local", "bin", "ctxd")]).stdout.toString()).toBe("0.2.0\n");
    expect((await run(home, ["--version", "9.9.9"])).errors).toContain("could not be downloaded");
  });

  const linux = (cpu: string) => `[ "$1" = -s ] && echo Linux || echo ${cpu}`;
  test.each([
    [
      "an old glibc",
      { getconf: "echo glibc 2.17", uname: linux("x86_64") },
      "this system has 2.17",
    ],
    ["a processor of 32 bits", { uname: linux("armv7l") }, "the processor armv7l"],
    [
      "a Mac with an Intel processor",
      { uname: '[ "$1" = -s ] && echo Darwin || echo x86_64' },
      "Intel",
    ],
    ["Windows", { uname: '[ "$1" = -s ] && echo MINGW64_NT || echo x86_64' }, "not for MINGW64_NT"],
    ["no program that downloads", {}, "curl or wget is needed for the download."],
  ])("refuses %s in one sentence, and leaves nothing", async (_, stubs, sentence) => {
    const home = newHome();
    const done = await run(home, [], pathWith(TOOLS, stubs));
    expect(done).toMatchObject({ exitCode: 1 });
    expect(done.errors).toContain(sentence);
    expect(done.errors.split("\n")).toHaveLength(1);
    const programs = existsSync(join(home, ".local"))
      ? readdirSync(join(home, ".local", "bin"))
      : [];
    expect(programs).toEqual([]);
  });

  test("does not replace a symbolic link", async () => {
    const home = newHome();
    symlinkSync(process.execPath, join(home, "ctxd"));
    expect((await run(home, ["--dir", home])).errors).toContain("is a symbolic link");
  });

  test("does nothing when the script itself is truncated", async () => {
    const home = newHome();
    const text = await Bun.file(script).text();
    for (const share of [0.3, 0.6, 0.9, 0.99]) {
      const part = text.slice(0, text.length * share);
      Bun.spawnSync(["sh", "-c", part], { env: { HOME: home, PATH: pathWith(TOOLS) }, cwd: home });
      expect(readdirSync(home)).toEqual([]);
    }
  });

  test("requires the glibc that all Linux executables need", async () => {
    expect(TARGETS["linux-arm64"].glibc).toBe(TARGETS["linux-x64"].glibc);
    const text = await Bun.file(script).text();
    expect(text).toContain(`oldest_glibc='${TARGETS["linux-x64"].glibc}'`);
    expect(text).not.toMatch(/@[A-Z]+@/);
  });

  test.skipIf(Bun.which("shellcheck") === null)("passes shellcheck", () => {
    const { stdout } = Bun.spawnSync(["shellcheck", script]);
    expect(stdout.toString()).toBe("");
  });
});
