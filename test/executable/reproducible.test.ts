import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { buildExecutable } from "../support/executable.ts";

const ROOT = join(import.meta.dir, "..", "..");
const BUILD_TIMEOUT = 20 * 60_000;

// On the file system of the checkout, so that its libraries can be hard-linked.
const folder = process.env.LONG ? mkdtempSync(join(dirname(ROOT), "ctxd-clones-")) : tmpdir();
afterAll(() => {
  if (process.env.LONG) rmSync(folder, { recursive: true });
});

test(
  "the executable does not contain the path of its build folder",
  async () => {
    const bytes = Buffer.from(await Bun.file(await buildExecutable()).arrayBuffer());
    expect(bytes.indexOf(`${ROOT}/`)).toBe(-1);
  },
  BUILD_TIMEOUT,
);

/** Builds the last commit in a new clone, and returns the executable's SHA-256. */
async function buildClone(clone: string, from: string): Promise<string> {
  await Bun.$`git clone -q ${ROOT} ${clone} && cp -al ${ROOT}/node_modules ${clone}`.quiet();
  const build = join(clone, "src", "build", "build.ts");
  await Bun.$`${process.execPath} ${build} --quick`.cwd(from).quiet();
  const file = Bun.file(join(clone, "dist", "ctxd"));
  return new Bun.CryptoHasher("sha256").update(await file.arrayBuffer()).digest("hex");
}

test.skipIf(!process.env.LONG)(
  "builds of one commit in two folders are identical (LONG=1)",
  async () => {
    const first = await buildClone(join(folder, "a"), folder);
    expect(await buildClone(join(folder, "a longer name"), "/")).toBe(first);
  },
  BUILD_TIMEOUT,
);
