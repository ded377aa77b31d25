/** Executables for systems that the tests don't run on, with nothing in them but headers. */

const PAGE = 4_096;
const SIGNED = 10_000;

/** A Mach-O executable with one command, for its ad-hoc signature. */
export function machExecutable(cpu: "x64" | "arm64"): Uint8Array {
  const pages = Math.ceil(SIGNED / PAGE);
  const directory = 44 + pages * 32;
  const content = new Uint8Array(SIGNED + 20 + directory);
  const view = new DataView(content.buffer);
  const little = [0xfeedfacf, cpu === "arm64" ? 0x100000c : 0x1000007, 0, 2, 1, 16, 0, 0];
  const command = [0x1d, 16, SIGNED, 20 + directory];
  for (const [at, value] of [...little, ...command].entries()) view.setUint32(at * 4, value, true);
  const blob = [0xfade0cc0, 20 + directory, 1, 0, 20];
  // Its version, that it is ad hoc, where the hashes and the name are, how many hashes, what is signed.
  const signature = [0xfade0c02, directory, 0x20400, 0x2, 44, 40, 0, pages, SIGNED];
  for (const [at, value] of [...blob, ...signature].entries()) {
    view.setUint32(SIGNED + at * 4, value);
  }
  content.set([32, 2, 0, Math.log2(PAGE)], SIGNED + 20 + 36);
  for (let page = 0; page < pages; page++) {
    const hashed = content.subarray(page * PAGE, Math.min((page + 1) * PAGE, SIGNED));
    const hash = new Bun.CryptoHasher("sha256").update(hashed).digest();
    content.set(hash, SIGNED + 20 + 44 + page * 32);
  }
  return content;
}

/** A PE executable for a terminal. */
export function peExecutable(cpu: "x64" | "arm64"): Uint8Array {
  const content = new Uint8Array(256);
  const view = new DataView(content.buffer);
  view.setUint16(0, 0x4d5a);
  view.setUint32(0x3c, 64, true);
  view.setUint32(64, 0x50450000);
  view.setUint16(64 + 4, cpu === "arm64" ? 0xaa64 : 0x8664, true);
  view.setUint16(64 + 22, 0x0022, true);
  view.setUint16(64 + 24, 0x020b, true);
  view.setUint16(64 + 24 + 68, 3, true);
  return content;
}
