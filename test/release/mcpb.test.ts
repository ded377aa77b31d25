import { expect, test } from "bun:test";
import { join } from "node:path";
import { getMcpConfigForManifest, MANIFEST_SCHEMAS, unpackExtension } from "@anthropic-ai/mcpb";
import { make } from "../../src/build/release/mcpb.ts";
import { hashFile } from "../../src/native/asset.ts";
import { TARGET_NAMES, TARGETS, type TargetName } from "../../src/native/targets.ts";
import { temporaryFolder } from "../support/database.ts";

async function release() {
  const out = temporaryFolder();
  const executables: Partial<Record<TargetName, string>> = {};
  for (const target of TARGET_NAMES) {
    executables[target] = join(out, target);
    await Bun.write(join(out, target), `the program of ${target}`);
  }
  return { version: "1.2.3", repository: "https://github.com/owner/ctxd", executables, out };
}

test("each executable has a bundle with a valid manifest that starts it", async () => {
  const made = await release();
  const written = await make(made);
  expect(written).toEqual(TARGET_NAMES.map((target) => join(made.out, `ctxd-${target}.mcpb`)));
  for (const target of TARGET_NAMES) {
    const outputDir = join(made.out, "unpacked", target);
    const mcpbPath = join(made.out, `ctxd-${target}.mcpb`);
    expect(await unpackExtension({ mcpbPath, outputDir, silent: true })).toBe(true);
    const json: unknown = await Bun.file(join(outputDir, "manifest.json")).json();
    const manifest = MANIFEST_SCHEMAS["0.3"].parse(json);
    expect(manifest.version).toBe("1.2.3");
    expect(manifest.compatibility?.platforms).toEqual([TARGETS[target].os]);
    const config = await getMcpConfigForManifest({
      manifest,
      extensionPath: outputDir,
      systemDirs: {},
      userConfig: {},
      pathSeparator: "/",
    });
    const command = config?.command ?? "";
    expect(command).toBe(join(outputDir, manifest.server.entry_point));
    expect(command.endsWith(".exe")).toBe(target === "windows-x64");
    expect(await Bun.file(command).text()).toBe(`the program of ${target}`);
  }
});

test("bundles are reproducible", async () => {
  const sums = [];
  for (const made of [await release(), await release()]) {
    sums.push(await Promise.all((await make(made)).map(hashFile)));
  }
  expect(sums[0]).toEqual(sums[1] ?? []);
});
