import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serving } from "../support/server-process.ts";

test("with port 0, the issuer and the links contain the chosen port", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  try {
    await using server = await serving(dataDir);
    expect(server.origin).toMatch(/^http:\/\/localhost:[1-9]\d+$/);
    const ask = async (path: string) => (await fetch(server.origin + path)).json();
    expect(await ask("/.well-known/oauth-authorization-server")).toMatchObject({
      issuer: server.origin,
      token_endpoint: `${server.origin}/api/oauth/token`,
    });
    expect(await ask("/.well-known/oauth-protected-resource/mcp")).toMatchObject({
      resource: `${server.origin}/mcp`,
    });
  } finally {
    rmSync(dataDir, { recursive: true });
  }
});
