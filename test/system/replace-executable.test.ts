import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { replaceExecutable } from "../../src/system/replace-executable.ts";

const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
afterAll(() => rmSync(root, { recursive: true }));

test.each([
  ["linux", "ctxd", "ctxd.old"],
  ["win32", "ctxd.exe", "ctxd.old.exe"],
])("on %s, %s becomes %s", async (platform, name, former) => {
  const folder = mkdtempSync(join(root, "x-"));
  await Bun.write(join(folder, name), "former");
  await Bun.write(join(folder, "new"), "newer");
  const path = await replaceExecutable(join(folder, name), join(folder, "new"), platform);
  expect(path).toBe(join(folder, former));
  expect(readFileSync(path, "utf8")).toBe("former");
  expect(readFileSync(join(folder, name), "utf8")).toBe("newer");
  expect(await Bun.file(join(folder, "new")).exists()).toBe(false);
});

test.each(["linux", "win32"])(
  "on %s, an executable that can't be replaced stays",
  async (platform) => {
    const folder = mkdtempSync(join(root, "x-"));
    await Bun.write(join(folder, "ctxd"), "former");
    const missing = join(folder, "missing", "new");
    mkdirSync(join(folder, "missing"));
    await expect(replaceExecutable(join(folder, "ctxd"), missing, platform)).rejects.toThrow();
    expect(readFileSync(join(folder, "ctxd"), "utf8")).toBe("former");
  },
);
