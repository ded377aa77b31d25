/** The section of the versions of symbols that a file needs; see elf.h. */
const SHT_GNU_VERNEED = 0x6ffffffe;

/**
 * The newest version of glibc that an ELF file of 64 bits asks symbols of, such as `2.28`; null when it asks
 * for none. Its loader refuses the file where glibc is older.
 */
export function neededGlibc(content: Uint8Array): string | null {
  const versions = neededVersions(content)
    .map((name) => /^GLIBC_(\d[\d.]*)$/.exec(name)?.[1])
    .filter((version) => version !== undefined);
  return versions.toSorted(byNumbers).at(-1) ?? null;
}

/** Whether version `a` is newer than version `b`, each of numbers with points between them. */
export function isNewer(a: string, b: string): boolean {
  return byNumbers(a, b) > 0;
}

function byNumbers(a: string, b: string): number {
  return a.localeCompare(b, "en", { numeric: true });
}

/** The names of all versions that the section names, of any library. */
function neededVersions(content: Uint8Array): string[] {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const section = (number: number) => sectionOf(view, number);
  const count = view.getUint16(60, true);
  const found: string[] = [];
  for (let number = 0; number < count; number++) {
    const { type, offset, link, entries } = section(number);
    if (type !== SHT_GNU_VERNEED) continue;
    const names = section(link).offset;
    let library = offset;
    for (let left = entries; left > 0; left--) {
      let version = library + view.getUint32(library + 8, true);
      for (let more = view.getUint16(library + 2, true); more > 0; more--) {
        found.push(textAt(content, names + view.getUint32(version + 8, true)));
        version += view.getUint32(version + 12, true);
      }
      library += view.getUint32(library + 12, true);
    }
  }
  return found;
}

function sectionOf(view: DataView, number: number) {
  const at = Number(view.getBigUint64(40, true)) + number * view.getUint16(58, true);
  return {
    type: view.getUint32(at + 4, true),
    offset: Number(view.getBigUint64(at + 24, true)),
    link: view.getUint32(at + 40, true),
    entries: view.getUint32(at + 44, true),
  };
}

function textAt(content: Uint8Array, from: number): string {
  return new TextDecoder().decode(content.subarray(from, content.indexOf(0, from)));
}
