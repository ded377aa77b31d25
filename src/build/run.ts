/**
 * Runs a program of the build until it ends.
 * @returns its standard output
 * @throws Error with its standard error when it fails
 */
export async function run(
  command: readonly string[],
  options: { cwd?: string } = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    ...options,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) === 0) return output;
  throw new Error(`${command.slice(0, 2).join(" ")} failed: ${errors.trim()}`);
}
