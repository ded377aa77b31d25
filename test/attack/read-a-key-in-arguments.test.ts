import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import { CLIENTS } from "../../src/connect/clients.ts";
import { CODE_EXAMPLES } from "../../src/connect/code-examples.ts";
import { readEntry } from "../../src/connect/entry.ts";
import { generateKey } from "../../src/keys/new-key.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";

const ROOT = join(import.meta.dir, "..", "..");
const ADDRESS = "https://memory.example.com";

/**
 * Runs a shell script in which curl is a program that records its arguments, which all users of the
 * machine can see, and its input.
 */
function watchCurl(script: string) {
  const home = temporaryFolder();
  const bin = join(home, "bin");
  mkdirSync(bin);
  const noted = join(home, "noted");
  const curl = `#!/bin/sh\nprintf '%s\\n' "$@" >> ${noted}\n`;
  writeFileSync(join(bin, "curl"), curl, { mode: 0o755 });
  const { exitCode } = Bun.spawnSync(["sh", "-euc", `umask 022; ${script}`], {
    env: { HOME: home, PATH: `${bin}:${process.env.PATH}` },
  });
  return { exitCode, args: readFileSync(noted, "utf8").split("\n"), home };
}

describe("another user of the machine sees no key", () => {
  test("in the arguments of the commands on the page Connect", () => {
    const key = generateKey();
    const [curl] = CODE_EXAMPLES.filter(({ id }) => id === "curl");
    const script = curl?.code(`${ADDRESS}/api/memories`, key) ?? "";
    expect(script).toContain(key);
    const { exitCode, args, home } = watchCurl(script);
    expect(exitCode).toBe(0);
    expect(args.filter((each) => each.includes(key))).toEqual([]);
    const header = args.find((each) => each.startsWith("@"))?.slice(1) ?? "";
    expect(header).toStartWith(home);
    expect(readFileSync(header, "utf8")).toBe(`Authorization: Bearer ${key}\n`);
    expect(statSync(header).mode & 0o777).toBe(0o600);
    const commands = CLIENTS.flatMap(({ addCommand }) => addCommand ?? []);
    expect(commands).toHaveLength(7);
    for (const command of commands) {
      expect(command).toContain(" URL");
      expect(command).not.toMatch(/--header|Bearer|ctx_/);
    }
  });

  test("in the arguments of programs that an agent starts, nor in a readable file", async () => {
    const key = generateKey();
    const home = temporaryFolder();
    for (const client of CLIENTS) {
      const { linux, macos } = client.file;
      const path = (process.platform === "darwin" ? macos : linux).replace("~", home);
      mkdirSync(dirname(path), { recursive: true });
      mkdirSync(join(home, ".claude"), { recursive: true });
      const args = ["connect", client.id, "--url", ADDRESS, "--key", "--direct", "--yes"];
      const { exitCode, stderr } = await ctxd(args, { input: `${key}\n`, env: { HOME: home } });
      expect({ exitCode, stderr: stderr.includes(key) }).toEqual({ exitCode: 0, stderr: false });
      const { command, cmd, args: started } = Object(readEntry(client, readFileSync(path, "utf8")));
      expect(JSON.stringify([command, cmd, started])).not.toContain(key);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });

  test("in the arguments of the commands in the help", async () => {
    const pages = [...new Glob("src/{help,docs}/*.md").scanSync(ROOT), "README.md"];
    const lines = await Promise.all(
      pages.map(async (path) => {
        const text = await Bun.file(join(ROOT, path)).text();
        return [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = ""]) =>
          block.replaceAll("\\\n", "").split("\n"),
        );
      }),
    );
    const withKey = lines.flat().filter((line) => /Bearer|\$KEY|ctx_/.test(line));
    expect(withKey.length).toBeGreaterThan(0);
    // `echo` is built into the shell, so its arguments are not visible.
    for (const line of withKey) expect(line).toMatch(/^\(umask 077; echo |^KEY=\$\(/);
  });
});
