import { expect } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateX25519Identity, identityToRecipient } from "age-encryption";
import { wholeAccount } from "../../../src/keys/reach.ts";
import { testCacheDir } from "../../support/embedder.ts";
import { backUp, copyBackup, folderOfTest, openData } from "../../support/live-data.ts";

/** The content of every memory begins with this sentence. */
export const SECRET = "The safe opens with 8-31-7.";
/** The e-mail address of the account. */
export const EMAIL = "hidden@example.com";
export const env = { CTXD_CACHE_DIR: testCacheDir };

const MEMORIES = 20;

/** A data folder with an account and 20 memories, and a backup of it that is encrypted to one recipient. */
export async function createEncryptedBackup() {
  const place = folderOfTest();
  const dataDir = join(place.path, "data");
  const backup = join(place.path, "good");
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const identityFile = join(place.path, "key.txt");
  writeFileSync(identityFile, `# created: today\n# public key: ${recipient}\n${identity}\n`);
  const data = await openData(dataDir);
  const { id: accountId } = await data.accounts.add({ email: EMAIL, password: null });
  for (let count = 0; count < MEMORIES; count++) {
    await data.memories.saveAll(wholeAccount(accountId), [{ content: `${SECRET} ${count}` }]);
  }
  // Closing writes the base, so that the backup contains more than a log.
  await data.close();
  await backUp(dataDir, backup, { recipients: [recipient] });

  return {
    place,
    dataDir,
    backup,
    identity,
    recipient,
    identityFile,
    /** A copy of the backup to change, and the path of a data folder to restore it to. */
    copy() {
      const { dataDir: target, ...rest } = copyBackup(place, backup);
      return { ...rest, target };
    },
    async expectRestored(target: string) {
      await using restored = await openData(target);
      const { memories } = await restored.memories.list(wholeAccount(accountId), {
        filter: {},
        limit: 100,
      });
      expect(memories).toHaveLength(MEMORIES);
      expect(memories.every(({ content }) => content.startsWith(SECRET))).toBe(true);
    },
    [Symbol.dispose]: () => place[Symbol.dispose](),
  };
}

/** Expects that a refused restore has left no file in the data folder, decrypted or not. */
export function expectNothingIn(target: string) {
  const remaining = existsSync(target) ? readdirSync(target) : [];
  expect(remaining.filter((name) => name !== "server.lock")).toEqual([]);
}
