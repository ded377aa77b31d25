const AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"];

/** Why nothing can be tried as another user here; null where it can. */
export const noOtherUser: string | null = (() => {
  if (process.platform !== "linux") return "another user is tried on Linux alone";
  if (process.getuid?.() !== 0) return "only root can become another user";
  if (!Bun.which("setpriv")) return "there is no setpriv";
  return null;
})();

/** Runs a program as another user of this machine, nobody, with an empty environment. */
export function asNobody(command: readonly string[]) {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...AS_NOBODY, ...command], {
    env: { PATH: process.env.PATH ?? "" },
    cwd: "/",
  });
  return { stdout: stdout.toString(), stderr: stderr.toString(), exitCode };
}

/** What of a folder another user may read or write, folders left out. */
export function openToNobody(folder: string): string[] {
  const { stdout } = asNobody([
    "find",
    folder,
    "!",
    "-type",
    "d",
    "(",
    "-readable",
    "-o",
    "-writable",
    ")",
  ]);
  return stdout.split("\n").filter((line) => line !== "");
}
