import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MANIFEST_FILE, type Manifest } from "../../src/backup/manifest.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { backUp, copyBackup, folderOfTest, openData } from "../support/live-data.ts";
import { outcomeOf } from "../support/outcome.ts";
import { ctxdWithPeak, hasPeaks } from "./support/peak-memory.ts";

/** Megabytes that an attack may take more than the restore of a small backup. */
const ROOM = 300;

let place: ReturnType<typeof folderOfTest>;
let good: string;
let manifest: Manifest;
let usual: number;
beforeAll(async () => {
  place = folderOfTest();
  good = join(place.path, "good");
  const data = await openData(join(place.path, "data"));
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  await data.memories.saveAll(wholeAccount(id), [{ content: "one" }]);
  await data.close();
  manifest = await backUp(join(place.path, "data"), good);
  const { folder, dataDir } = copyBackup(place, good);
  usual = hasPeaks ? (await ctxdWithPeak(["restore", folder], { dataDir })).peak : 0;
}, 120_000);
afterAll(() => place[Symbol.dispose]());

const sha256 = (content: string | Uint8Array) =>
  new Bun.CryptoHasher("sha256").update(content).digest("hex");

/** Writes a manifest with the right checksum, as an attacker can. */
function writeManifest(folder: string, changes: Record<string, unknown>) {
  const { checksum: _, ...facts } = { ...manifest, ...changes };
  const checksum = sha256(JSON.stringify(facts));
  writeFileSync(join(folder, MANIFEST_FILE), JSON.stringify({ ...facts, checksum }));
}

/** The manifest as text, with more fields before its end. */
function withFields(fields: string): string {
  return `${JSON.stringify(manifest).slice(0, -1)},${fields}}`;
}

const listed = (path: string) => ({ path, bytes: 1, sha256: "0".repeat(64) });

describe.skipIf(!hasPeaks)("in one sentence, and in little memory, ctxd restore refuses", () => {
  test.each<[string, RegExp, (folder: string) => void]>([
    [
      "a manifest of millions of values",
      /is damaged/,
      (folder) => writeFileSync(join(folder, MANIFEST_FILE), `{"files":[${"[],".repeat(1e7)}0]}`),
    ],
    [
      "a manifest of millions of fields",
      /is damaged/,
      (folder) => {
        const fields = Array.from({ length: 3_000_000 }, (_, n) => `"${n}":0`);
        writeFileSync(join(folder, MANIFEST_FILE), withFields(fields.join(",")));
      },
    ],
    [
      "a manifest that is nested a hundred thousand times",
      /is damaged/,
      (folder) => {
        const nested = `"x":${"[".repeat(1e5)}${"]".repeat(1e5)}`;
        writeFileSync(join(folder, MANIFEST_FILE), withFields(nested));
      },
    ],
    [
      "a manifest with a text of a hundred megabytes",
      /is damaged/,
      (folder) =>
        writeFileSync(join(folder, MANIFEST_FILE), withFields(`"x":"${"x".repeat(1e8)}"`)),
    ],
    [
      "a file of a terabyte that is listed with a few kilobytes",
      /ctxd\.db differs from backup\.json/,
      (folder) => truncateSync(join(folder, "ctxd.db"), 2 ** 40),
    ],
    [
      "a file name of 64 KiB",
      /is damaged/,
      (folder) => {
        const files = [...manifest.files, listed(`memories/${"a".repeat(1 << 16)}`)];
        writeManifest(folder, { files });
      },
    ],
    [
      "a file name that is longer than names on disk",
      /can't be read: its name is too long for this disk/,
      (folder) => {
        const files = [...manifest.files, listed(`memories/${"a".repeat(300)}`)];
        writeManifest(folder, { files });
      },
    ],
  ])("%s", async (_, reason, attack) => {
    const { folder, dataDir } = copyBackup(place, good);
    attack(folder);
    const { stderr, exitCode, peak } = await ctxdWithPeak(["restore", folder], { dataDir });
    expect({ stderr, exitCode }).toMatchObject({ exitCode: 1 });
    expect(stderr).toMatch(/^ctxd: \P{Cc}{1,1000}\.\n$/u);
    expect(stderr).toMatch(reason);
    expect(peak).toBeLessThan(usual + ROOM);
    expect(existsSync(dataDir)).toBe(false);
    rmSync(folder, { recursive: true });
  });
});

test("a key whose passphrase takes a gigabyte of memory to check is refused before that", async () => {
  const { folder, dataDir } = copyBackup(place, good);
  rmSync(join(folder, MANIFEST_FILE));
  const [salt, body] = [16, 32].map((bytes) => Buffer.alloc(bytes).toBase64({ omitPadding: true }));
  const key = `age-encryption.org/v1\n-> scrypt ${salt} 20\n${body}\n--- ${body}\n`;
  writeFileSync(join(folder, "key.age"), key);
  const unlock = async () => ({ passphrase: "guess" });
  const restoring = restoreBackup({ folder, dataDir, version: "1.0.0", unlock });
  expect(await outcomeOf(restoring)).toThrow("key.age takes too much memory to open");
  expect(existsSync(dataDir)).toBe(false);
});

/** Changes the database of a backup, and the manifest as an attacker can. */
function changeDatabase(folder: string, change: (sqlite: Database) => void) {
  const path = join(folder, "ctxd.db");
  const sqlite = new Database(path);
  change(sqlite);
  sqlite.close();
  const content = readFileSync(path);
  const entry = { path: "ctxd.db", bytes: content.length, sha256: sha256(content) };
  const others = manifest.files.filter((file) => file.path !== "ctxd.db");
  writeManifest(folder, { files: [entry, ...others] });
}

/** Replaces a table by one with more in its definition. */
function redefine(sqlite: Database, table: string, more: string) {
  const row = sqlite.query("SELECT sql FROM sqlite_schema WHERE name = ?").get(table);
  const { sql } = row as { sql: string };
  sqlite.run("PRAGMA foreign_keys = OFF");
  sqlite.run(`DROP TABLE ${table}`);
  sqlite.run(sql.replace(/\)\s*STRICT\s*$/, `, ${more}) STRICT`));
}

test.each<[string, (sqlite: Database) => void]>([
  [
    // One revoked key is there already, so the database ignores that a second one is revoked.
    "whose keys can't be revoked",
    (sqlite) => {
      const ignoring = "gone INTEGER AS (iif(revoked_at IS NULL, NULL, 1)), UNIQUE (gone)";
      redefine(sqlite, "api_keys", `${ignoring} ON CONFLICT IGNORE`);
      sqlite.run("CREATE INDEX api_keys_account_id ON api_keys (account_id)");
    },
  ],
  [
    "that computes a name of a gigabyte",
    (sqlite) => redefine(sqlite, "removed_accounts", "big TEXT AS (printf('%.*c', 1e9, 'x'))"),
  ],
  [
    "with an index that runs a function for each row",
    (sqlite) => sqlite.run("CREATE INDEX slow ON accounts (length(printf('%.*c', 9, email)))"),
  ],
  ["with a table of its own", (sqlite) => sqlite.run("CREATE TABLE mine (x)")],
  [
    "with a virtual table",
    (sqlite) => sqlite.run("CREATE VIRTUAL TABLE mine USING fts5 (x, content='accounts')"),
  ],
])("a database %s is refused", async (_, attack) => {
  const { folder, dataDir } = copyBackup(place, good);
  changeDatabase(folder, attack);
  const restoring = restoreBackup({ folder, dataDir, version: "1.0.0", revokeKeys: true });
  expect(await outcomeOf(restoring)).toThrow("is not a database of ctxd");
  expect(existsSync(join(dataDir, "ctxd.db"))).toBe(false);
  expect(existsSync(join(dataDir, "restoring"))).toBe(false);
});
