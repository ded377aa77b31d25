import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { MANIFEST_FILE, type Manifest } from "../../src/backup/manifest.ts";
import { refuseUnfinishedRestore } from "../../src/backup/source.ts";
import { lockDataFolder } from "../../src/db/data-lock.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { backUp, copyBackup, folderOfTest, openData, restore } from "../support/live-data.ts";
import { outcomeOf } from "../support/outcome.ts";

let place: ReturnType<typeof folderOfTest>;
let good: string;
let manifest: Manifest;
let accountId: string;

beforeAll(async () => {
  place = folderOfTest();
  good = join(place.path, "good");
  const first = await openData(join(place.path, "data"));
  ({ id: accountId } = await first.accounts.add({ email: "you@example.com", password: null }));
  await first.memories.saveAll(wholeAccount(accountId), [{ content: "one" }]);
  // Now this memory is in a base, and the next one is in the log.
  await first.close();
  await using data = await openData(join(place.path, "data"));
  await data.memories.saveAll(wholeAccount(accountId), [{ content: "two" }]);
  manifest = await backUp(join(place.path, "data"), good);
});
afterAll(() => place[Symbol.dispose]());

const folders = () => copyBackup(place, good);

async function expectAllThere(dataDir: string) {
  await using data = await openData(dataDir);
  const { memories } = await data.memories.list(wholeAccount(accountId), { filter: {}, limit: 10 });
  expect(memories.map(({ content }) => content).sort()).toEqual(["one", "two"]);
}

function flip(path: string) {
  const content = readFileSync(path);
  const middle = Math.floor(content.length / 2);
  content.writeUInt8(content.readUInt8(middle) ^ 1, middle);
  writeFileSync(path, content);
}

const DAMAGES: [string, (path: string) => void][] = [
  ["with one bit flipped", flip],
  ["cut to half", (path) => truncateSync(path, Math.floor(readFileSync(path).length / 2))],
  ["emptied", (path) => truncateSync(path, 0)],
  ["longer by a byte", (path) => appendFileSync(path, "x")],
  ["removed", (path) => rmSync(path)],
];

test("a restore brings back the memories of the base and of the log", async () => {
  const { folder, dataDir } = folders();
  expect((await restore(folder, dataDir)).manifest).toEqual(manifest);
  expect(readdirSync(dataDir).sort()).toEqual(["ctxd.db", "memories", "server.lock"]);
  await expectAllThere(dataDir);
});

test.each(DAMAGES)(
  "every file %s is refused in an error that names it, and nothing is written",
  async (_, damage) => {
    for (const { path } of manifest.files) {
      const { folder, dataDir } = folders();
      const damaged = join(folder, path);
      damage(damaged);
      expect(await outcomeOf(restore(folder, dataDir))).toThrow(damaged);
      expect(existsSync(dataDir)).toBe(false);
    }
  },
);

test.each(DAMAGES)("a manifest %s is refused in an error that names it", async (_, damage) => {
  const { folder, dataDir } = folders();
  damage(join(folder, MANIFEST_FILE));
  expect(await outcomeOf(restore(folder, dataDir))).toThrow(MANIFEST_FILE);
  expect(existsSync(dataDir)).toBe(false);
});

test.each([
  ["a file less", { files: [] }],
  ["another number", { accounts: 7 }],
  ["a field more", { extra: true }],
  ["a field of another type", { ctxd: 1 }],
])("an edited manifest (%s) is refused", async (_, change) => {
  const { folder, dataDir } = folders();
  writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify({ ...manifest, ...change }));
  expect(await outcomeOf(restore(folder, dataDir))).toThrow(`${MANIFEST_FILE} is damaged`);
});

test.each([{ format: 2 }, { schema: 1_000 }])(
  "a newer backup (%j) is refused as newer, not as damaged",
  async (newer) => {
    const { folder, dataDir } = folders();
    writeFileSync(
      join(folder, MANIFEST_FILE),
      JSON.stringify({ ...manifest, ...newer, ctxd: "9.1.0" }),
    );
    expect(await outcomeOf(restore(folder, dataDir))).toThrow("a newer ctxd (9.1.0)");
  },
);

test.each(["../outside", "memories/../../outside", "/etc/outside", "memories//x", "other/file"])(
  "a path %s in a manifest with a correct checksum is refused",
  async (path) => {
    const { folder, dataDir } = folders();
    const { checksum: _, ...unsigned } = manifest;
    const [first] = unsigned.files;
    const forged = { ...unsigned, files: [{ ...first, path }] };
    const checksum = new Bun.CryptoHasher("sha256").update(JSON.stringify(forged)).digest("hex");
    writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify({ ...forged, checksum }));
    expect(await outcomeOf(restore(folder, dataDir))).toThrow("is damaged");
  },
);

test("a symbolic link instead of a file is refused", async () => {
  const { folder, dataDir } = folders();
  renameSync(join(folder, "ctxd.db"), join(folder, "elsewhere"));
  symlinkSync(join(folder, "elsewhere"), join(folder, "ctxd.db"));
  expect(await outcomeOf(restore(folder, dataDir))).toThrow("symbolic link");
});

test.each(["ctxd.db", "memories", "something"])(
  "a data folder with %s is refused unchanged",
  async (name) => {
    const { folder, dataDir } = folders();
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, name), "mine");
    expect(await outcomeOf(restore(folder, dataDir))).toThrow(`is not empty (${name})`);
    expect(readdirSync(dataDir)).toEqual([name]);
    expect(readFileSync(join(dataDir, name), "utf8")).toBe("mine");
  },
);

test("files of a checkout in its data folder do not prevent a restore, and stay", async () => {
  const { folder, dataDir } = folders();
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, "README.md"), "read me");
  await restore(folder, dataDir);
  expect(readFileSync(join(dataDir, "README.md"), "utf8")).toBe("read me");
  await expectAllThere(dataDir);
});

test("a data folder that a server uses is refused", async () => {
  const { folder, dataDir } = folders();
  const lock = lockDataFolder(dataDir, "1.0.0");
  expect(await outcomeOf(restore(folder, dataDir))).toThrow("is served by process");
  lock.release();
  await restore(folder, dataDir);
});

test.each([
  ["before the first file was copied", [], []],
  ["while files were copied", ["restoring/memories/x.lance/data/y"], []],
  ["after the tables were moved", ["restoring/ctxd.db"], ["memories"]],
])(
  "a restore that was interrupted %s is refused by serve and cleaned up by the next",
  async (_, files, moved) => {
    const { folder, dataDir } = folders();
    mkdirSync(join(dataDir, "restoring"), { recursive: true });
    for (const file of files) {
      mkdirSync(join(dataDir, file, ".."), { recursive: true });
      writeFileSync(join(dataDir, file), "half");
    }
    for (const part of moved) cpSync(join(folder, part), join(dataDir, part), { recursive: true });
    if (files.length > 0) {
      expect(() => refuseUnfinishedRestore(dataDir)).toThrow(
        "was interrupted: run ctxd restore again",
      );
    }
    await restore(folder, dataDir);
    expect(() => refuseUnfinishedRestore(dataDir)).not.toThrow();
    await expectAllThere(dataDir);
  },
);

test("a restore that was interrupted before its last step counts as complete", async () => {
  const { folder, dataDir } = folders();
  await restore(folder, dataDir);
  mkdirSync(join(dataDir, "restoring"));
  expect(() => refuseUnfinishedRestore(dataDir)).not.toThrow();
  expect(existsSync(join(dataDir, "restoring"))).toBe(false);
  await expectAllThere(dataDir);
});
