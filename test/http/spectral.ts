import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startServer } from "../support/server.ts";

/**
 * Lints the API's document with Spectral's recommended rules. This is not part of the suite, because
 * Spectral installs 800 packages. They are installed for this run only.
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
