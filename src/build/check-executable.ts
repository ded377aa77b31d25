import type { EmbeddedFile } from "../native/embedded.ts";
import { isNewerGlibc, TARGETS, type TargetName } from "../native/targets.ts";
import { hasAdHocSignature, neededGlibc, systemOf } from "./executable-format.ts";
import type { Library } from "./libraries.ts";

/** Leading bytes of an embedded file that it is found by. */
const SEARCHED_BYTES = 4_096;

/**
 * Checks an executable of any system without starting it: its header, its signature, the glibc version
 * that it needs, and that each embedded file unpacks to the expected content.
 * @throws Error that names the fault
 */
export async function checkExecutable(
  path: string,
  name: TargetName,
  files: readonly EmbeddedFile[],
): Promise<void> {
  const content = await Bun.file(path).bytes();
  const { os, cpu } = TARGETS[name];
  const system = systemOf(content);
  if (system?.os !== os || system.cpu !== cpu) {
    throw new Error(
      `${path} is for ${system ? `${system.os}-${system.cpu}` : "no system"}, not for ${name}`,
    );
  }
  if (os === "darwin" && !hasAdHocSignature(content)) {
    throw new Error(`${path} has no signature that matches it, so no Mac would start it`);
  }
  checkGlibc({ name: path, path }, name, content);
  for (const file of files) await checkFile(path, content, file);
}

/** @throws Error when a library needs a newer glibc than its target promises */
export function checkGlibc(library: Library, name: TargetName, content: Uint8Array): void {
  const { glibc } = TARGETS[name];
  const needed = glibc && neededGlibc(content);
  if (needed && isNewerGlibc(needed, glibc)) {
    throw new Error(`${library.path} needs glibc ${needed}, but ${name} promises ${glibc}`);
  }
}

async function checkFile(path: string, content: Uint8Array, file: EmbeddedFile): Promise<void> {
  const wanted = await Bun.file(file.path).bytes();
  const at = Buffer.from(content.buffer, content.byteOffset, content.byteLength).indexOf(
    wanted.subarray(0, SEARCHED_BYTES),
  );
  const found = at < 0 ? null : content.subarray(at, at + wanted.byteLength);
  if (found === null || !(await unpacksTo(found, file))) {
    throw new Error(`${path} does not contain the expected ${file.name}`);
  }
}

async function unpacksTo(compressed: Uint8Array, file: EmbeddedFile): Promise<boolean> {
  const unpacked = await Bun.zstdDecompress(compressed).catch(() => null);
  if (unpacked?.byteLength !== file.bytes) return false;
  return new Bun.CryptoHasher("sha256").update(unpacked).digest("hex") === file.sha256;
}
