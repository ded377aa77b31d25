import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { EmbeddedFile } from "../native/embedded.ts";

/** zstd level. It takes minutes for the largest library, once; level 12 would add 7 MB to every download. */
const LEVEL = 19;
/** For an executable that nobody else gets: takes seconds, and a tenth more bytes. */
const QUICK_LEVEL = 6;

/**
 * Compresses a file for the executable. The result is kept in `folder`, for later builds.
 * @param strip the program that removes debug symbols first; null to keep them
 * @param isQuick compresses less; a result of full compression in `folder` is preferred
 */
export async function compressFile(
  file: { name: string; content: Uint8Array },
  folder: string,
  { isQuick, strip }: { isQuick: boolean; strip: string | null },
): Promise<EmbeddedFile> {
  const key = sha256(file.content).slice(0, 32);
  const pathOf = (level: number) => join(folder, `${key}${strip ? "-stripped" : ""}-${level}.zst`);
  for (const path of (isQuick ? [LEVEL, QUICK_LEVEL] : [LEVEL]).map(pathOf)) {
    const facts = Bun.file(`${path}.json`);
    // The facts are written last: when they exist, the compressed file is complete.
    if (await facts.exists()) return { name: file.name, path, ...(await readFacts(facts)) };
  }

  const level = isQuick ? QUICK_LEVEL : LEVEL;
  const path = pathOf(level);
  const content = strip ? await stripSymbols(file.content, strip) : file.content;
  const { byteLength: bytes } = content;
  await mkdir(folder, { recursive: true });
  await write(path, await Bun.zstdCompress(content, { level }));
  await write(`${path}.json`, JSON.stringify({ bytes, sha256: sha256(content) }));
  return { name: file.name, path, bytes, sha256: sha256(content) };
}

async function readFacts(file: Bun.BunFile): Promise<{ bytes: number; sha256: string }> {
  const { bytes, sha256 } = await file.json();
  return { bytes: Number(bytes), sha256: String(sha256) };
}

async function stripSymbols(content: Uint8Array, strip: string): Promise<Uint8Array> {
  const folder = await mkdtemp(join(tmpdir(), "ctxd-build-"));
  try {
    const path = join(folder, "library");
    await Bun.write(path, content);
    await Bun.$`${strip} ${path}`.quiet();
    return await Bun.file(path).bytes();
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function write(path: string, content: string | Uint8Array): Promise<void> {
  const temporary = `${path}.${process.pid}.part`;
  await Bun.write(temporary, content);
  await rename(temporary, path);
}

function sha256(content: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(content).digest("hex");
}
