import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { make } from "../../src/build/release/deb/deb.ts";
import { describeCommand } from "../../src/server/invocation.ts";
import { temporaryFolder } from "../support/database.ts";
import { overlaidRoot } from "../support/overlaid-root.ts";
import { until } from "../support/until.ts";

const FILES = join(import.meta.dir, "..", "..", "src", "build", "release", "deb", "files");
const hasDpkg = Bun.which("dpkg-deb") !== null;

/** Replaces the program by a script that prints its user and settings. */
const STAND_IN = '#!/bin/sh\necho "$(id -un) $HOME $CTXD_DATA_DIR $CTXD_PUBLIC_URL $*"\n';

/** The PATH in which dpkg and chroot find the administrator's programs. */
const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin:/sbin` };

function run(...command: string[]) {
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env });
  return { exitCode, output: stdout.toString(), errors: stderr.toString() };
}

async function packageOf(executable: string, version = "99.0.0"): Promise<string> {
  const out = temporaryFolder();
  const repository = "https://github.com/owner/ctxd";
  const executables = { "linux-x64": executable };
  const [path = ""] = await make({ version, repository, executables, out });
  return path;
}

function standIn(): string {
  const path = join(temporaryFolder(), "ctxd");
  writeFileSync(path, STAND_IN);
  return path;
}

describe.skipIf(!hasDpkg)("the Debian package", () => {
  test("has a description, dependencies and checksums", async () => {
    const path = await packageOf(standIn());
    expect(path).toEndWith("/ctxd_99.0.0_amd64.deb");
    const { output } = run("dpkg-deb", "--field", path);
    expect(output).toContain("Maintainer: owner <owner@users.noreply.github.com>\n");
    expect(output).toContain("libc6 (>= 2.28)");
    const tree = temporaryFolder();
    expect(run("dpkg-deb", "--raw-extract", path, tree).exitCode).toBe(0);
    const check = Bun.spawnSync(["md5sum", "--check", "--quiet", "DEBIAN/md5sums"], { cwd: tree });
    expect(check.exitCode).toBe(0);
  });

  test("is reproducible", async () => {
    const executable = standIn();
    const bytes = async () => Bun.hash(await Bun.file(await packageOf(executable)).bytes());
    const seconds = () => Math.floor(Date.now() / 1000);
    const [first, then] = [await bytes(), seconds()];
    // Archives contain times in seconds.
    await until("the next second", () => seconds() !== then);
    expect(await bytes()).toBe(first);
  });

  test.skipIf(!Bun.which("lintian"))("passes lintian", async () => {
    const executable = join(temporaryFolder(), "ctxd");
    copyFileSync("/bin/true", executable);
    const path = await packageOf(executable);
    const { exitCode, output } = run("lintian", "--allow-root", "--fail-on=warning", path);
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: "" });
  });
});

describe("the service", () => {
  test.each(["ctxd.service", "ctxd-service"])("messages suggest ctxd-service: %s", async (name) => {
    const text = await Bun.file(join(FILES, name)).text();
    const [, mark] = /CTXD_INSTALLED_BY=(\S+)/.exec(text) ?? [];
    const env = { CTXD_INSTALLED_BY: mark };
    const command = describeCommand("user add", { dataDir: "/var/lib/ctxd" }, env);
    expect(command).toBe("sudo ctxd-service user add");
  });

  test.skipIf(!Bun.which("systemd-analyze"))("is valid for systemd, and sandboxed", async () => {
    const unit = await Bun.file(join(FILES, "ctxd.service")).text();
    const path = join(temporaryFolder(), "ctxd.service");
    writeFileSync(path, unit.replace("/usr/bin/ctxd", "/bin/true").replace(/^Doc.*\n/m, ""));
    expect(run("systemd-analyze", "verify", path)).toEqual({ exitCode: 0, output: "", errors: "" });
    const security = ["security", "--offline=true", "--threshold=20", path];
    expect(run("systemd-analyze", ...security).exitCode).toBe(0);
  });
});

const hasSystemd = Bun.which("systemd-sysusers") !== null && Bun.which("setpriv") !== null;
const root = hasDpkg && hasSystemd ? overlaidRoot() : null;

describe.skipIf(!root)("installed by dpkg", () => {
  const inRoot = (...command: string[]) => run("chroot", root?.path ?? "", ...command);
  const settings = () => join(root?.path ?? "", "etc", "ctxd", "ctxd.env");
  const install = async (version: string) => {
    const path = await packageOf(standIn(), version);
    copyFileSync(path, join(root?.path ?? "", "ctxd.deb"));
    return dpkg("--install", "--force-depends", "/ctxd.deb");
  };
  const dpkg = (...args: string[]) => inRoot("dpkg", "--no-triggers", ...args);
  const modeOf = (path: string) => inRoot("stat", "--format=%U %a", path).output.trim();

  beforeAll(async () => {
    expect(await install("99.0.0")).toMatchObject({ exitCode: 0 });
  });
  afterAll(() => root?.[Symbol.dispose]());

  test("only the service's user can read its folders", () => {
    expect(modeOf("/var/lib/ctxd")).toBe("ctxd 700");
    expect(modeOf("/var/cache/ctxd")).toBe("ctxd 700");
    expect(modeOf("/etc/ctxd/ctxd.env")).toBe("root 600");
    expect(inRoot("getent", "passwd", "ctxd").output).toEndWith(
      ":/var/lib/ctxd:/usr/sbin/nologin\n",
    );
  });

  test("ctxd-service runs a command as that user, with the settings of the service", () => {
    writeFileSync(settings(), 'CTXD_PUBLIC_URL="https://a.example/?x=$HOME y"\n# A=B\nbroken\n');
    const { output } = inRoot("ctxd-service", "user", "add", "a b");
    expect(output).toBe(
      "ctxd /var/lib/ctxd /var/lib/ctxd https://a.example/?x=$HOME y user add a b\n",
    );
    const refused = inRoot("setpriv", "--reuid=65534", "/usr/sbin/ctxd-service", "doctor");
    expect(refused).toMatchObject({ exitCode: 1, errors: expect.stringContaining("only root") });
  });

  test("upgrading and removing keep settings and memories, purging removes them", async () => {
    const memories = join(root?.path ?? "", "var", "lib", "ctxd", "memories");
    mkdirSync(memories, { recursive: true });
    writeFileSync(settings(), "CTXD_PORT=8000\n");
    expect(await install("99.0.1")).toMatchObject({ exitCode: 0 });
    expect(inRoot("dpkg-query", "--show", "ctxd").output.trim()).toBe("ctxd\t99.0.1");
    expect(dpkg("--remove", "ctxd").exitCode).toBe(0);
    expect(await Bun.file(settings()).text()).toBe("CTXD_PORT=8000\n");
    expect(modeOf("/var/lib/ctxd/memories")).not.toBe("");
    expect(modeOf("/usr/bin/ctxd")).toBe("");
    expect(dpkg("--purge", "ctxd").exitCode).toBe(0);
    for (const path of ["/var/lib/ctxd", "/var/cache/ctxd", "/etc/ctxd"])
      expect(modeOf(path)).toBe("");
  });
});
