import { expect, test } from "bun:test";
import { join } from "node:path";
import loadWabt from "wabt";

const FOLDER = join(import.meta.dir, "../../../src/memories/indexes");

test.each(["dot-products", "late-interaction", "sketches"])(
  "the module %s is what its text says",
  async (name) => {
    const { parseWat } = await loadWabt();
    const text = await Bun.file(join(FOLDER, `${name}.wat`)).text();
    const { buffer } = parseWat(`${name}.wat`, text, { simd: true }).toBinary({});
    const module = await Bun.file(join(FOLDER, `${name}.wasm`)).bytes();
    expect([...module]).toEqual([...buffer]);
  },
);
