import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json" with { type: "json" };
import { makeRelease } from "../../src/build/release/release.ts";

const SCRIPT = join(import.meta.dir, "..", "..", "src", "build", "release", "release.ts");
const REPOSITORY = "https://github.com/owner/ctxd";

function folder() {
  const path = mkdtempSync(join(tmpdir(), "ctxd-release-"));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true }) };
}

function run(...args: string[]) {
  const { exitCode, stderr } = Bun.spawnSync([process.execPath, SCRIPT, ...args]);
  return { exitCode, errors: stderr.toString().trim() };
}

test("sha256sum accepts the checksums of a release", async () => {
  using out = folder();
  await Bun.write(join(out.path, "ctxd-linux-x64"), "one");
  await Bun.write(join(out.path, "winget", "ctxd.yaml"), "two");
  await Bun.write(join(out.path, "NOTES.md"), "three");
  const release = { version, repository: REPOSITORY, executables: {}, out: out.path };
  // Written twice: the file contains no checksum of itself.
  for (const only of [["checksums"], ["checksums"]]) await makeRelease(release, only);
  const text = await Bun.file(join(out.path, "SHA256SUMS")).text();
  const hash = new Bun.CryptoHasher("sha256").update("one").digest("hex");
  expect(text).toBe(`${hash}  ctxd-linux-x64\n`);
});

test("an unknown part, a tag of another version and an address without a repository are refused", async () => {
  using out = folder();
  const given = ["--out", join(out.path, "release"), "--executables", out.path];
  expect(run(...given)).toMatchObject({ exitCode: 1, errors: expect.stringContaining("usage:") });
  const whole = [...given, "--repository", REPOSITORY];
  expect(run(...whole).errors).toContain("contains no executable");
  expect(run(...whole, "--tag", "v99.0.0").errors).toContain(
    "the tag is v99.0.0, but package.json has",
  );
  await Bun.write(join(out.path, "ctxd-linux-x64"), "one");
  expect(run(...whole, "--only", "floppy").errors).toContain("there is no part floppy");
});
