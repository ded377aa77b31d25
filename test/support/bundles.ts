import { join } from "node:path";

const ROOT = join(import.meta.dir, "..", "..");

/** Programs that are started often enough to be worth bundling. */
const BUNDLED = [
  "src/main.ts",
  "test/crash/impatient-server.ts",
  "test/cluster/next-version.ts",
  "test/cluster/replica.ts",
];
let bundles: string | null = null;

/** The file by which Bun runs a program of the sources as they are now: a bundle, if there is one. */
export function fileOf(program: string): string {
  if (!BUNDLED.includes(program)) return join(ROOT, program);
  bundles ??= bundle();
  return join(bundles, program.replace(/ts$/, "js"));
}

/** The folder of the bundled programs; see `bundle-programs.ts`. */
function bundle(): string {
  const command = [process.execPath, "test/support/bundle-programs.ts", ...BUNDLED];
  const { exitCode, stdout, stderr } = Bun.spawnSync(command, { cwd: ROOT });
  if (exitCode !== 0) throw new Error(`the programs are not bundled: ${stderr}`);
  return `${stdout}`;
}
