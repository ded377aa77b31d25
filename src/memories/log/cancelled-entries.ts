import { existsSync, readFileSync, rmSync } from "node:fs";
import type { SqliteDatabase } from "../../db/sqlite.ts";

/**
 * Removes entries that an earlier version of this program refused and could not remove, because the disk was full. It
 * wrote their numbers to a file, eight bytes each. The file is removed too.
 */
export function dropCancelledEntries({ sqlite }: SqliteDatabase): void {
  const path = `${sqlite.filename}-cancelled`;
  if (!existsSync(path)) return;
  const bytes = readFileSync(path);
  const remove = sqlite.query("DELETE FROM journal WHERE seq = ?");
  const amend = sqlite.query(
    "UPDATE heads SET seq = (SELECT coalesce(max(seq), 0) FROM journal WHERE account_id = name) WHERE seq = ?",
  );
  sqlite
    .transaction(() => {
      for (let at = 0; at + 8 <= bytes.length; at += 8) {
        const seq = bytes.readBigUInt64LE(at);
        if (seq === 0n) continue;
        remove.run(seq);
        amend.run(seq);
      }
    })
    .immediate();
  rmSync(path);
}
