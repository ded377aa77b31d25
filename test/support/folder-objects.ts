import { cp, mkdir, readdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ObjectStoreError } from "../../src/objects/object-store-error.ts";
import type { Objects } from "../../src/objects/objects.ts";

/** Objects in a folder: quick, and it can be away. */
export function folderObjects(folder: string): Objects & { isAway: boolean } {
  const pathOf = (name: string) => join(folder, name);
  const all = async () => {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  };
  const objects = {
    isAway: false,
    async put(name: string, file: Blob) {
      here();
      await mkdir(dirname(pathOf(name)), { recursive: true });
      await Bun.write(pathOf(name), file);
    },
    async fetch(name: string, path: string) {
      here();
      await cp(pathOf(name), path).catch((cause) => {
        throw new ObjectStoreError("NoSuchKey", { status: 404, what: `GET ${name}`, cause });
      });
    },
    async remove(name: string) {
      here();
      await rm(pathOf(name), { force: true });
    },
    async *list(prefix: string) {
      here();
      const names = (await all()).filter((name) => name.startsWith(prefix));
      yield names.map((name) => ({ name, bytes: Bun.file(pathOf(name)).size }));
    },
    async *folders() {
      here();
      yield [...new Set((await all()).map((name) => name.split("/")[0] ?? ""))].sort();
    },
    text: (name: string) => Bun.file(pathOf(name)).text(),
    versioning: async () => null,
  };
  const here = () => {
    if (objects.isAway) throw new ObjectStoreError("ECONNREFUSED", { what: "a call" });
  };
  return objects;
}
