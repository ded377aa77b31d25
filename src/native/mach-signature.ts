/** See loader.h of macOS. */
const LC_CODE_SIGNATURE = 0x1d;
/** See cs_blobs.h of macOS. What is signed is in big endian. */
const SUPER_BLOB = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const AD_HOC = 0x2;
const SHA256 = 2;

/**
 * Whether a Mach-O executable has an ad-hoc signature that fits its content: a Mac with an Apple processor
 * starts no other. It says nothing about who made the file.
 */
export function hasAdHocSignature(content: Uint8Array): boolean {
  const signature = signatureOf(content);
  if (signature === null) return false;
  const view = new DataView(signature.buffer, signature.byteOffset, signature.byteLength);
  if (view.getUint32(0) !== SUPER_BLOB) return false;
  const at = view.getUint32(16);
  if (view.getUint32(at) !== CODE_DIRECTORY || (view.getUint32(at + 12) & AD_HOC) === 0) {
    return false;
  }
  const hashes = at + view.getUint32(at + 16);
  const pages = view.getUint32(at + 28);
  const signed = view.getUint32(at + 32);
  const [size, type] = [view.getUint8(at + 36), view.getUint8(at + 37)];
  const page = 2 ** view.getUint8(at + 39);
  const isWhole = signed === signature.byteOffset - content.byteOffset;
  if (!isWhole || size !== 32 || type !== SHA256 || pages !== Math.ceil(signed / page))
    return false;
  for (let number = 0; number < pages; number++) {
    const from = number * page;
    const hash = sha256(content.subarray(from, Math.min(from + page, signed)));
    const expected = signature.subarray(hashes + number * size, hashes + (number + 1) * size);
    if (!hash.equals(expected)) return false;
  }
  return true;
}

/** The signature, by the command that says where it is; null where there is none. */
function signatureOf(content: Uint8Array): Uint8Array | null {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const commands = view.getUint32(16, true);
  let at = 32;
  for (let number = 0; number < commands; number++) {
    if (view.getUint32(at, true) === LC_CODE_SIGNATURE) {
      const from = view.getUint32(at + 8, true);
      return content.subarray(from, from + view.getUint32(at + 12, true));
    }
    at += view.getUint32(at + 4, true);
  }
  return null;
}

function sha256(content: Uint8Array): Buffer {
  return new Bun.CryptoHasher("sha256").update(content).digest();
}
