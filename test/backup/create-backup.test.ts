import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { createBackup } from "../../src/backup/create-backup.ts";
import { MANIFEST_FILE } from "../../src/backup/manifest.ts";
import { databasePath } from "../../src/db/data-lock.ts";
import { wholeAccount } from "../../src/keys/reach.ts";
import { loadLanceDb } from "../../src/native/lancedb.ts";
import { testCacheDir } from "../support/embedder.ts";
import { listFiles } from "../support/files.ts";
import { backUp, folderOfTest, HASTY, openData, restore } from "../support/live-data.ts";
import { outcomeOf } from "../support/outcome.ts";
import { until } from "../support/until.ts";

const note = (content: string) => [{ content }];

test("a backup contains exactly the files of its manifest, readable by its owner only", async () => {
  using place = folderOfTest();
  const dataDir = join(place.path, "data");
  const folder = join(place.path, "backups", "first");
  const data = await openData(dataDir);
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  await data.memories.saveAll(wholeAccount(id), note("one"));
  // Writes a base, so that not everything is in the log.
  await data.close();
  const manifest = await backUp(dataDir, folder);

  expect(manifest).toMatchObject({ format: 1, accounts: 1, tables: 1 });
  const listed = manifest.files.map(({ path }) => path);
  expect((await listFiles(folder)).sort()).toEqual([MANIFEST_FILE, ...listed].sort());
  for (const { path, bytes, sha256 } of manifest.files) {
    const content = readFileSync(join(folder, path));
    expect(content.length).toBe(bytes);
    expect(new Bun.CryptoHasher("sha256").update(content).digest("hex")).toBe(sha256);
    expect(statSync(join(folder, path)).mode & 0o777).toBe(0o600);
  }
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "memories")).mode & 0o777).toBe(0o700);
});

test("backups during writes and purges contain every confirmed memory", async () => {
  using place = folderOfTest();
  const dataDir = join(place.path, "data");
  await using data = await openData(dataDir, HASTY);
  const accounts = await Promise.all(
    [1, 2, 3].map((n) => data.accounts.add({ email: `a${n}@example.com`, password: null })),
  );
  /** The requested contents of each memory in order (`null`: removed), and the index of the confirmed one. */
  const history = new Map<string, { contents: (string | null)[]; answered: number }>();
  let isOver = false;
  let writes = 0;

  const write = async (accountId: string, name: string) => {
    const own: string[] = [];
    const change = async (id: string, content: string | null, work: () => Promise<unknown>) => {
      const known = history.get(id);
      known?.contents.push(content);
      await work();
      if (known) known.answered = known.contents.length - 1;
    };
    for (let count = 0; !isOver; count++) {
      const content = `${name} ${count}\n\nsecond passage\n\nthird passage`;
      const [made] = await data.memories.saveAll(wholeAccount(accountId), note(content));
      if (!made) throw new Error("nothing was made");
      history.set(made.id, { contents: [content], answered: 0 });
      own.push(made.id);
      const other = own[Math.floor(Math.random() * own.length)] ?? made.id;
      if (count % 3 === 0) {
        const changed = `${content} changed`;
        await change(other, changed, () =>
          data.memories.update(wholeAccount(accountId), other, { content: changed }),
        );
      } else if (count % 3 === 1) {
        own.splice(own.indexOf(other), 1);
        await change(other, null, () => data.memories.remove(wholeAccount(accountId), other));
      }
      writes++;
    }
  };
  const load = accounts.flatMap(async ({ id }, index) => [
    await write(id, `x${index}`),
    await write(id, `y${index}`),
  ]);

  const backups: { folder: string; allowed: Map<string, (string | null)[]> }[] = [];
  for (let number = 0; number < 4; number++) {
    const goal = writes + 20;
    await until("20 more writes", () => writes >= goal);
    const folder = join(place.path, `backup-${number}`);
    const before = new Map([...history].map(([id, { answered }]) => [id, answered]));
    await backUp(dataDir, folder);
    // The content that was confirmed before the backup, or any later one.
    const allowed = new Map(
      [...before].map(([id, first]) => [id, history.get(id)?.contents.slice(first) ?? []]),
    );
    backups.push({ folder, allowed });
  }
  isOver = true;
  await Promise.all(load);
  expect(writes).toBeGreaterThan(50);

  for (const { folder, allowed } of backups) {
    const target = `${folder}-restored`;
    await restore(folder, target);
    await using restored = await openData(target);
    const found = new Map<string, string>();
    for (const { id: accountId } of accounts) {
      for (const memory of await listAll(restored.memories, accountId)) {
        expect(found.has(memory.id)).toBe(false);
        found.set(memory.id, memory.content);
        // A memory has either all of its rows or none.
        const [stored] = await restored.store.use(accountId, ({ table }) =>
          table.load([memory.id]),
        );
        expect(stored?.vectors.length).toBeGreaterThanOrEqual(3);
      }
    }
    for (const [id, contents] of allowed) expect(contents).toContain(found.get(id) ?? null);
    for (const [id, content] of found) expect(history.get(id)?.contents).toContain(content);
  }
});

test("when a newer checkpoint removes files, the newer state is backed up", async () => {
  using place = folderOfTest();
  const [dataDir, later] = [join(place.path, "data"), join(place.path, "later")];
  const data = await openData(dataDir);
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  await data.memories.saveAll(wholeAccount(id), note("one"));
  await data.close();
  cpSync(dataDir, later, { recursive: true });
  const laterData = await openData(later, HASTY);
  for (const content of ["two", "three"])
    await laterData.memories.saveAll(wholeAccount(id), note(content));
  await laterData.close();

  // The steps of a server while the first file is copied.
  const advance = () => {
    rmSync(join(dataDir, "memories"), { recursive: true });
    cpSync(join(later, "memories"), join(dataDir, "memories"), { recursive: true });
    const db = new Database(databasePath(dataDir));
    db.run("ATTACH ? AS later", [databasePath(later)]);
    db.run("REPLACE INTO checkpoints SELECT * FROM later.checkpoints");
    db.close();
  };
  const rounds = await backUpWith(dataDir, join(place.path, "backup"), (round) => {
    if (round === 1) advance();
  });
  expect(rounds).toBe(2);
  await restore(join(place.path, "backup"), join(place.path, "restored"));
  await using restored = await openData(join(place.path, "restored"));
  const found = await listAll(restored.memories, id);
  expect(found.map(({ content }) => content).sort()).toEqual(["one", "three", "two"]);
});

test("a backup fails when a table changes faster than it is copied", async () => {
  using place = folderOfTest();
  const dataDir = join(place.path, "data");
  const data = await openData(dataDir);
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  await data.memories.saveAll(wholeAccount(id), note("one"));
  await data.close();
  const change = (round: number) => {
    const db = new Database(databasePath(dataDir));
    db.run("UPDATE checkpoints SET version = version + 1, files = json_insert(files, '$[#]', ?)", [
      `data/${round}`,
    ]);
    db.close();
  };
  change(0);
  const folder = join(place.path, "backup");
  expect(await outcomeOf(backUpWith(dataDir, folder, change))).toThrow("change faster than");
  expect(existsSync(folder)).toBe(false);
});

test("a table with a missing file makes the backup fail", async () => {
  using place = folderOfTest();
  const dataDir = join(place.path, "data");
  const folder = join(place.path, "backup");
  const data = await openData(dataDir);
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  await data.memories.saveAll(wholeAccount(id), note("one"));
  await data.close();
  const tables = join(dataDir, "memories");
  const lost = (await listFiles(tables)).find((file) => file.includes("/data/")) ?? "";
  rmSync(join(tables, lost));
  const [base = ""] = lost.split("/");
  expect(base).toStartWith(id);
  expect(await outcomeOf(backUp(dataDir, folder))).toThrow(`${base} is damaged`);
  expect(existsSync(folder)).toBe(false);
});

test("a backup does not wait for a removed account", async () => {
  using place = folderOfTest();
  const dataDir = join(place.path, "data");
  const data = await openData(dataDir);
  const { id } = await data.accounts.add({ email: "you@example.com", password: null });
  await data.memories.saveAll(wholeAccount(id), note("one"));
  await data.accounts.remove(id);
  await data.close();
  rmSync(join(dataDir, "memories"), { recursive: true });
  const manifest = await backUp(dataDir, join(place.path, "backup"));
  expect(manifest.files.map(({ path }) => path)).toEqual(["ctxd.db"]);
});

test("a target that is not empty, inside the data folder or not a folder is refused unchanged", async () => {
  using place = folderOfTest();
  const dataDir = join(place.path, "data");
  await using _ = await openData(dataDir);
  const full = join(place.path, "full");
  mkdirSync(join(full, "something"), { recursive: true });
  expect(await outcomeOf(backUp(dataDir, full))).toThrow(`${full} is not empty`);
  expect(readdirSync(full)).toEqual(["something"]);

  symlinkSync(dataDir, join(place.path, "link"));
  for (const inside of [join(dataDir, "b"), dataDir, join(place.path, "link", "x", "y")]) {
    expect(await outcomeOf(backUp(dataDir, inside))).toThrow("is inside the data folder");
  }
  expect(await outcomeOf(backUp(dataDir, join(databasePath(dataDir), "b")))).toThrow("inside");
  expect(existsSync(join(dataDir, "b"))).toBe(false);
});

test("a data folder without data or with an interrupted restore is refused", async () => {
  using place = folderOfTest();
  const folder = join(place.path, "backup");
  expect(await outcomeOf(backUp(join(place.path, "none"), folder))).toThrow("nothing to back up");
  const dataDir = join(place.path, "data");
  await using _ = await openData(dataDir);
  mkdirSync(join(dataDir, "restoring"));
  expect(await outcomeOf(backUp(dataDir, folder))).toThrow("A restore to");
  expect(existsSync(folder)).toBe(false);
});

/** Creates a backup, runs a task at the start of each round, and returns the number of rounds. */
async function backUpWith(dataDir: string, folder: string, onRound: (round: number) => void) {
  let rounds = 0;
  const lancedb = await loadLanceDb(testCacheDir);
  await createBackup({
    ...{ dataDir, folder, version: "1.0.0", lancedb, clock: Date.now },
    onProgress({ step, count }) {
      if (step === "copying files" && count === 1) onRound(++rounds);
    },
  });
  return rounds;
}

async function listAll(memories: Awaited<ReturnType<typeof openData>>["memories"], id: string) {
  const all = [];
  let cursor: string | undefined;
  do {
    const page = await memories.list(wholeAccount(id), { filter: {}, limit: 100, cursor });
    all.push(...page.memories);
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return all;
}
