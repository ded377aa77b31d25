import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getMcpConfigForManifest, MANIFEST_SCHEMAS, unpackExtension } from "@anthropic-ai/mcpb";
import { version } from "../../package.json" with { type: "json" };
import { make } from "../../src/build/release/mcpb.ts";
import { ownTargetName, targetNamed } from "../../src/native/targets.ts";
import { stopServer } from "../support/bridge.ts";
import { buildExecutable } from "../support/executable.ts";
import { connectProgram, shownIn } from "../support/mcp.ts";

// The first build compresses 300 MB of libraries, and the first start unpacks the libraries.
setDefaultTimeout(20 * 60_000);

const folder = mkdtempSync(join(tmpdir(), "ctxd-mcpb-"));
const unpacked = join(folder, "unpacked");

beforeAll(async () => {
  // Compressing the executable itself takes several seconds, and would show nothing that this does not.
  const launcher = join(folder, "launcher");
  writeFileSync(launcher, `#!/bin/sh\nexec "${await buildExecutable()}" "$@"\n`);
  const executables = { [targetNamed(ownTargetName())]: launcher };
  const repository = "https://github.com/owner/ctxd";
  const [mcpbPath = ""] = await make({ version, repository, executables, out: folder });
  await unpackExtension({ mcpbPath, outputDir: unpacked, silent: true });
});

afterAll(async () => {
  await stopServer(join(folder, "data"));
  rmSync(folder, { recursive: true, force: true });
});

test("the command of a bundle for Claude Desktop has the tools of its manifest", async () => {
  const json: unknown = await Bun.file(join(unpacked, "manifest.json")).json();
  const manifest = MANIFEST_SCHEMAS["0.3"].parse(json);
  const config = await getMcpConfigForManifest({
    manifest,
    extensionPath: unpacked,
    systemDirs: {},
    userConfig: {},
    pathSeparator: "/",
  });
  await using client = await connectProgram("v1", {
    command: config?.command ?? "",
    args: config?.args ?? [],
    env: {
      ...config?.env,
      CTXD_DATA_DIR: join(folder, "data"),
      CTXD_CACHE_DIR: join(folder, "cache"),
    },
  });
  const names = (await client.tools()).map(({ name }) => name);
  expect(names.sort()).toEqual((manifest.tools ?? []).map(({ name }) => name).sort());
  const content = "My daughter is allergic to peanuts.";
  await client.call("save_memory", { content });
  const query = "what food must the child avoid";
  expect(shownIn(await client.call("search_memories", { query }))).toMatchObject([{ content }]);
});
