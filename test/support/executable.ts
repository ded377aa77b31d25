import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");

let built: Promise<string> | null = null;

/** The path of the executable, built once in a test process. */
export function buildExecutable(): Promise<string> {
  built ??= build();
  return built;
}

async function build(): Promise<string> {
  const child = Bun.spawn([process.execPath, "src/native/build.ts"], { cwd: ROOT, stderr: "pipe" });
  const errors = await child.stderr.text();
  if ((await child.exited) !== 0) throw new Error(errors);
  return join(ROOT, "dist", "ctxd");
}
