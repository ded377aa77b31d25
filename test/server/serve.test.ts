import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serving } from "../support/server-process.ts";

test("on a free port, the issuer and the links have the port that was taken", async () => {
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
