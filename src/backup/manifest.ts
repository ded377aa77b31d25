import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { MIGRATIONS } from "../db/migrations.ts";
import { BackupError } from "./backup-error.ts";
import { isPlainPath } from "./foreign-database.ts";

/** Maximum bytes of a manifest, which is read into memory: enough for a million files. */
export const MAX_MANIFEST = 256 << 20;

/** Version of the format. It grows with changes that an older program can't read. */
const FORMAT = 1;

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const Manifest = Type.Object({
  format: Count,
  /** Version of the program that created the backup. */
  ctxd: Type.String({ maxLength: 100 }),
  created_at: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" }),
  /** Schema version of its database. */
  schema: Count,
  accounts: Count,
  tables: Count,
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      bytes: Count,
      sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
    }),
  ),
  /** SHA-256 of all fields above, as JSON without white space. */
  checksum: Type.String(),
});

/** The list of a backup's contents. It is written last, so a folder without one is not a complete backup. */
export type Manifest = Static<typeof Manifest>;

/** File name of the manifest in a backup. */
export const MANIFEST = "backup.json";

/** Adds the format and the checksum to a manifest. */
export function completeManifest(facts: Omit<Manifest, "format" | "checksum">): Manifest {
  const unsigned = { format: FORMAT, ...facts };
  return { ...unsigned, checksum: checksumOf(unsigned) };
}

/** The text of a manifest file. */
export function formatManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/**
 * Parses the manifest of a backup and checks that this program can restore it.
 * @param text content of its file; null when it is missing
 * @param name its file name in the folder
 * @throws BackupError when it is missing, damaged or of a newer program
 */
export function parseManifest(text: string | null, folder: string, name: string): Manifest {
  const path = join(folder, name);
  if (text === null) {
    throw new BackupError(`${folder} is not a complete backup: it has no ${name}.`);
  }
  const manifest = parse(text);
  if (isNewer(manifest)) {
    throw new BackupError(
      `${path} was written by a newer ctxd (${manifest.ctxd}): restore with that version or a newer one.`,
    );
  }
  if (!Value.Check(Manifest, manifest)) throw damaged(path);
  const { checksum, ...unsigned } = manifest;
  if (checksum !== checksumOf(unsigned) || !manifest.files.every(isInside)) throw damaged(path);
  if (new Set(manifest.files.map((file) => file.path)).size < manifest.files.length) {
    throw damaged(path);
  }
  return manifest;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

const Version = Type.Object({
  format: Type.Integer(),
  ctxd: Type.String({ maxLength: 100 }),
  schema: Type.Integer(),
});

function isNewer(manifest: unknown): manifest is Static<typeof Version> {
  return (
    Value.Check(Version, manifest) &&
    (manifest.format > FORMAT || manifest.schema > MIGRATIONS.length)
  );
}

function damaged(path: string): BackupError {
  return new BackupError(`${path} is damaged: use another backup.`);
}

/** Whether a path stays inside the backup: a manifest is untrusted input. */
function isInside({ path }: { path: string }): boolean {
  return path === "ctxd.db" || (path.startsWith("memories/") && isPlainPath(path));
}

function checksumOf(unsigned: Omit<Manifest, "checksum">): string {
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(unsigned)).digest("hex");
}
