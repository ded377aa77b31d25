import { expect, test } from "bun:test";
import { join } from "node:path";

const MODULE = join(
  import.meta.dir,
  "..",
  "..",
  "..",
  "src",
  "memories",
  "indexes",
  "wasm-memory.ts",
);

test("a processor without AVX, for which the engine has no SIMD, is named", () => {
  const script = `await import(${JSON.stringify(MODULE)}).catch(({ message }) => console.log(message))`;
  const { stdout } = Bun.spawnSync([process.execPath, "-e", script], {
    env: { ...process.env, BUN_JSC_useWasmSIMD: "0" },
  });
  expect(stdout.toString()).toBe(
    "This processor lacks AVX, which ctxd needs: run it on one from 2011 or later.\n",
  );
});
