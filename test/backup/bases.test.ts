import { expect, test } from "bun:test";
import { cpSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import type { Lock } from "../../src/backup/age.ts";
import { createBackup } from "../../src/backup/create-backup.ts";
import { copyFile } from "../../src/backup/files.ts";
import { completeManifest, formatManifest, MANIFEST_FILE } from "../../src/backup/manifest.ts";
import { restoreBackup } from "../../src/backup/restore-backup.ts";
import { baseFolder } from "../../src/memories/log/log.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { temporaryFolder } from "../support/database.ts";
import { testCacheDir } from "../support/embedder.ts";
import {
  EARLIER,
  earlierDatabase,
  filesOf,
  openRecorded,
  writeBase,
} from "../support/recorded-data.ts";

/** A backup contains the bases of checkpoints, even while a flush writes or removes others. */

/** A data folder with an account, its recorded base, and another base without a checkpoint. */
async function someData() {
  const dataDir = join(temporaryFolder(), "data");
  const data = openRecorded(dataDir);
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  const [first, second] = [`${id}.00000001`, `${id}.00000002`];
  const checkpoint = await writeBase(dataDir, first, 3);
  await data.log.checkpoint(id, checkpoint);
  const next = await writeBase(dataDir, second, 4);
  return { dataDir, id, data, checkpoint, next };
}

async function backUp(
  dataDir: string,
  {
    lock = null,
    onRound = () => {},
  }: { lock?: Lock | null; onRound?: (round: number) => void } = {},
) {
  const folder = join(temporaryFolder(), "backup");
  let rounds = 0;
  await createBackup({
    ...{ dataDir, folder, version: "1.0.0", clock: Date.now, lock },
    lancedb: await loadLanceDb(testCacheDir),
    onProgress({ step, count }) {
      if (step === "copying files" && count === 1) onRound(++rounds);
    },
  });
  return { folder, rounds };
}

test("a backup contains the base of the checkpoint, and no other base of the account", async () => {
  const { dataDir, id, data, checkpoint } = await someData();
  using _ = data;
  const { folder } = await backUp(dataDir);
  expect(readdirSync(join(folder, "memories"))).toEqual([`${checkpoint.base}.lance`]);
  expect(await filesOf(folder, checkpoint.base)).toEqual(checkpoint.files);
  const target = join(temporaryFolder(), "restored");
  await restoreBackup({ folder, dataDir: target, version: "1.0.0" });
  using restored = openRecorded(target);
  expect((await restored.log.head(id))?.checkpoint).toEqual(checkpoint);
});

test.each(["unencrypted", "encrypted"])(
  "when a base is replaced during the copy (%s), the new base is backed up",
  async (kind) => {
    const { dataDir, id, data, checkpoint, next } = await someData();
    using _ = data;
    const identity = kind === "encrypted" ? await generateX25519Identity() : null;
    const { folder, rounds } = await backUp(dataDir, {
      lock: identity === null ? null : { recipients: [await identityToRecipient(identity)] },
      onRound(round) {
        if (round > 1) return;
        // The steps of a flush, without pauses.
        const { base, version, files } = next;
        data.sqlite.run(
          "UPDATE checkpoints SET base = ?, version = ?, files = ? WHERE account_id = ?",
          [base, version, JSON.stringify(files), id],
        );
        rmSync(join(dataDir, baseFolder(checkpoint.base)), { recursive: true });
      },
    });
    expect(rounds).toBe(2);
    const target = join(temporaryFolder(), "restored");
    const unlock = identity === null ? null : async () => ({ identities: [identity] });
    await restoreBackup({ folder, dataDir: target, version: "1.0.0", unlock });
    expect(await filesOf(target, checkpoint.base)).toEqual([]);
    expect(await filesOf(target, next.base)).toEqual(next.files);
    using restored = openRecorded(target);
    expect((await restored.log.head(id))?.checkpoint).toEqual(next);
  },
);

test("rows that are added to a base during the copy cause no further round", async () => {
  const { dataDir, id, data, checkpoint } = await someData();
  using _ = data;
  const { rounds } = await backUp(dataDir, {
    onRound: () => void data.log.checkpoint(id, { ...checkpoint, version: checkpoint.version + 1 }),
  });
  expect(rounds).toBe(1);
});

test("a backup of the earlier version is restored, and its tables become bases", async () => {
  const [folder, place] = [join(temporaryFolder(), "backup"), temporaryFolder()];
  const id = "acc_1";
  const { version, files } = await writeBase(folder, id, 3);
  earlierDatabase(place, (sqlite) => {
    const account =
      "INSERT INTO accounts (id, email, role, created_at) VALUES (?, 'x', 'owner', 0)";
    sqlite.run(account, [id]);
    // The checkpoint lists a file of an older version that was removed later.
    const listed = JSON.stringify([...files, "data/older.lance"]);
    sqlite.run("INSERT INTO checkpoints VALUES (?, ?, ?, 0)", [id, version, listed]);
    sqlite.run("INSERT INTO journal (account_id, removed) VALUES (?, '[\"mem_0\"]')", [id]);
    sqlite.run("PRAGMA journal_mode = DELETE");
  });
  cpSync(join(place, "ctxd.db"), join(folder, "ctxd.db"));
  const paths = ["ctxd.db", ...files.map((file) => `${baseFolder(id)}/${file}`)];
  const manifest = completeManifest({
    ...{ ctxd: "0.1.0", created_at: new Date(0).toISOString(), schema: EARLIER },
    ...{ accounts: 1, tables: 1 },
    files: await Promise.all(
      paths.map(async (path) => {
        const content = await copyFile(join(folder, path), null);
        if (!content) throw new Error(`no ${path}`);
        return { path, ...content };
      }),
    ),
  });
  writeFileSync(join(folder, MANIFEST_FILE), formatManifest(manifest));

  const target = join(temporaryFolder(), "restored");
  await restoreBackup({ folder, dataDir: target, version: "1.0.0" });
  using restored = openRecorded(target);
  const head = await restored.log.head(id);
  expect(head?.checkpoint).toMatchObject({ base: id, version, upTo: 0 });
  expect(await restored.log.entries(id)).toMatchObject([{ removed: ["mem_0"] }]);
  expect(await filesOf(target, id)).toEqual(files);
  // Later backups contain it as a base.
  const { folder: again } = await backUp(target);
  expect(await filesOf(again, id)).toEqual(files);
});
