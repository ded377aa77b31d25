import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import Ajv from "ajv";
import { parse } from "yaml";
import { make } from "../../src/build/release/winget.ts";

const SCHEMAS = join(import.meta.dir, "..", "fixtures", "winget");
const out = mkdtempSync(join(tmpdir(), "ctxd-winget-"));
// Its schemas use number formats that JSON Schema does not define.
const ajv = new Ajv({ validateFormats: false, strict: false, allErrors: true });

afterAll(() => rmSync(out, { recursive: true }));

test("the manifests match winget's schemas, and have the executable's checksum", async () => {
  const path = join(out, "ctxd-windows-x64.exe");
  await Bun.write(path, "program");
  const paths = await make({
    version: "1.2.3",
    repository: "https://github.com/owner/ctxd",
    executables: { "windows-x64": path },
    out,
  });
  expect(paths.map((each) => basename(each))).toEqual([
    "owner.ctxd.yaml",
    "owner.ctxd.installer.yaml",
    "owner.ctxd.locale.en-US.yaml",
  ]);
  for (const each of paths) {
    const manifest = parse(await Bun.file(each).text());
    const schema = await Bun.file(join(SCHEMAS, `${manifest.ManifestType}.json`)).json();
    ajv.validate(schema, manifest);
    expect(ajv.errors).toBeNull();
    // The schemas accept unknown fields, so a misspelled one must be found here.
    for (const field of Object.keys(manifest)) expect(schema.properties).toHaveProperty(field);
    if (manifest.ManifestType !== "installer") continue;
    expect(manifest.Installers).toEqual([
      {
        Architecture: "x64",
        InstallerUrl: "https://github.com/owner/ctxd/releases/download/v1.2.3/ctxd-windows-x64.exe",
        InstallerSha256: new Bun.CryptoHasher("sha256")
          .update("program")
          .digest("hex")
          .toUpperCase(),
      },
    ]);
  }
});
