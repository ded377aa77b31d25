import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileOf } from "../support/bundles.ts";
import { ctxd } from "../support/command-line.ts";
import { temporaryFolder } from "../support/database.ts";

const MAIN = fileOf("src/main.ts");

/** For each shell, the script that prints the completions of a line. */
const SHELLS = {
  bash: (script: string, words: string[]) => `
    ${script}
    COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}
    _ctxd; printf '%s\\n' "\${COMPREPLY[@]}"`,
  zsh: (script: string, words: string[]) => `
    compdef() { :; }; compadd() { shift; print -l -- "$@"; }; _files() { print FILES; }
    ${script}
    words=(${words.map((word) => `'${word}'`).join(" ")}); CURRENT=${words.length}
    _ctxd`,
  fish: (script: string, words: string[]) => `
    ${script}
    complete --do-complete '${words.join(" ")}'`,
};

const CASES: [line: string[], shown: string[]][] = [
  [
    ["ctxd", "key", ""],
    ["create", "list", "revoke"],
  ],
  [
    ["ctxd", "ser"],
    ["serve", "service"],
  ],
  [["ctxd", "key", "create", "--sc"], ["--scope"]],
  [
    ["ctxd", "space", "re"],
    ["remove", "rename"],
  ],
  [["ctxd", "space", "invite", "acme", "--role", "w"], ["write"]],
  [["ctxd", "completion", "f"], ["fish"]],
  [
    ["ctxd", "connect", "cl"],
    ["claude-code", "claude-desktop", "cline"],
  ],
];

for (const [shell, tell] of Object.entries(SHELLS)) {
  test.skipIf(!Bun.which(shell))(`${shell} completes commands and options`, async () => {
    const { stdout: script, exitCode } = await ctxd(["completion", shell]);
    expect(exitCode).toBe(0);
    const home = temporaryFolder();
    const bin = join(home, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "ctxd"), `#!/bin/sh\nexec ${process.execPath} ${MAIN} "$@"\n`, {
      mode: 0o755,
    });
    for (const [words, shown] of CASES) {
      const child = Bun.spawn([shell, "-c", tell(script, words)], {
        env: { HOME: home, PATH: `${bin}:${process.env.PATH}` },
        stdout: "pipe",
        stderr: "pipe",
      });
      const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
      expect(errors).toBe("");
      expect({ words, shown: output.trim().split(/\s+/) }).toMatchObject({
        words,
        shown: expect.arrayContaining(shown),
      });
    }
  });
}

test.skipIf(!Bun.which("zsh"))(
  "zsh also accepts its script as a file of its function path",
  async () => {
    const { stdout: script } = await ctxd(["completion", "zsh"]);
    const home = temporaryFolder();
    writeFileSync(join(home, "_ctxd"), script);
    writeFileSync(join(home, "ctxd"), "#!/bin/sh\necho serve\n", { mode: 0o755 });
    const read = `compadd() { shift; print -l -- "$@" }; fpath=(${home}); autoload -Uz _ctxd
    words=(ctxd ser); CURRENT=2; _ctxd; _ctxd`;
    const env = { HOME: home, PATH: `${home}:${process.env.PATH}` };
    const { stdout } = Bun.spawnSync(["zsh", "-c", read], { env });
    expect(stdout.toString()).toBe("serve\nserve\n");
  },
);

test("an unknown shell is refused", async () => {
  const { stderr, exitCode } = await ctxd(["completion", "tcsh"]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("bash, zsh, fish");
});

test("commands for programs are not offered", async () => {
  const { stdout } = await ctxd(["complete", "--", ""]);
  const words = stdout.trim().split("\n");
  expect(words).toContain("doctor");
  expect(words).not.toContain("complete");
});
