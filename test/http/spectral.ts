import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../support/server.ts";

/**
 * Lints the API's document with Spectral's recommended rules. Not in the suite: Spectral brings 800
 * packages, which are had when this runs and not kept.
 */
const SPECTRAL = "@stoplight/spectral-cli@6.16.3";

const folder = mkdtempSync(join(tmpdir(), "ctxd-spectral-"));
try {
  await using server = await startServer();
  await Bun.write(join(folder, "openapi.json"), await fetch(`${server.origin}/docs/json`));
  await Bun.write(join(folder, ".spectral.yaml"), 'extends: ["spectral:oas"]\n');
  const command = [process.execPath, "x", SPECTRAL, "lint", "openapi.json", "--fail-severity=hint"];
  const { exited } = Bun.spawn(command, { cwd: folder, stdout: "inherit", stderr: "inherit" });
  process.exitCode = await exited;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
