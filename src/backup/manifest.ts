import { realpath } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { Value } from "@sinclair/typebox/value";
import { MIGRATIONS } from "../db/migrations.ts";
import { createJsonStream, JsonProblem } from "../text/json-stream.ts";
import { BackupError } from "./backup-error.ts";
import { isPlainPath } from "./foreign-database.ts";

/** Whether a path is a folder or inside it, after resolving symbolic links. The path need not exist. */
export async function isWithin(path: string, folder: string): Promise<boolean> {
  const [inner, outer] = [await resolveLinks(path), await resolveLinks(folder)];
  return `${inner}${sep}`.startsWith(`${outer}${sep}`);
}

async function resolveLinks(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await resolveLinks(parent), basename(path));
  }
}

/** Maximum bytes of a manifest: enough for a million files. */
export const MAX_MANIFEST = 256 << 20;
/** Maximum characters of the entry of a file, and of another field. */
const MAX_LENGTH = 64 << 10;
const MAX_FIELDS = 100;
/** Maximum characters of a path. Those of LanceDB have less than 200. */
const MAX_PATH = 1_000;

/** Version of the format. It grows with changes that an older program can't read. */
const FORMAT = 1;

const Count = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });

const Entry = Type.Object({
  path: Type.String({ maxLength: MAX_PATH }),
  bytes: Count,
  sha256: Type.String({ pattern: "^[0-9a-f]{64}$" }),
});

const Manifest = Type.Object({
  format: Count,
  /** Version of the program that created the backup. */
  ctxd: Type.String({ maxLength: 100 }),
  created_at: Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$" }),
  /** Schema version of its database. */
  schema: Count,
  accounts: Count,
  tables: Count,
  files: Type.Array(Entry),
  /** SHA-256 of all fields above, as JSON without white space. */
  checksum: Type.String(),
});

/** The list of a backup's contents. It is written last, so a folder without one is not a complete backup. */
export type Manifest = Static<typeof Manifest>;

export const MANIFEST_FILE = "backup.json";

/** Adds the format and the checksum to a manifest. */
export function completeManifest(facts: Omit<Manifest, "format" | "checksum">): Manifest {
  const unsigned = { format: FORMAT, ...facts };
  return { ...unsigned, checksum: checksumOf(unsigned) };
}

export function formatManifest(manifest: Manifest): string {
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/**
 * Reads the manifest of a backup and checks that this program can restore it. The text is parsed entry by entry: its
 * author could nest it deeply, or fill it with millions of values that take much more memory than their text.
 * @param bytes content of its file
 * @param path of its file
 * @throws BackupError when it is damaged or of a newer program
 */
export async function readManifest(
  bytes: AsyncIterable<Uint8Array>,
  path: string,
): Promise<Manifest> {
  const manifest = await parse(bytes);
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

/** The fields of a manifest's text; without its files if these or the text are invalid. */
async function parse(bytes: AsyncIterable<Uint8Array>): Promise<unknown> {
  const entryShape = TypeCompiler.Compile(Entry);
  const fields = new Map<string, unknown>();
  const stream = createJsonStream(
    { paths: ["$.*", "$.files.*"], maxLength: MAX_LENGTH },
    (value, key, within) => {
      if (within.length === 0) fields.set(String(key), value);
      const isValid = within.length > 0 ? entryShape.Check(value) : fields.size <= MAX_FIELDS;
      if (!isValid) throw new JsonProblem("is no manifest");
    },
  );
  try {
    for await (const chunk of bytes) stream.write(chunk);
    stream.end();
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    fields.delete("files");
  }
  return Object.fromEntries(fields);
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

/** SHA-256 of the fields as JSON without white space, of which no more than an entry is in memory. */
function checksumOf(unsigned: Omit<Manifest, "checksum">): string {
  const hash = new Bun.CryptoHasher("sha256");
  const { files } = unsigned;
  for (const [at, [name, value]] of Object.entries(unsigned).entries()) {
    const isFiles = name === "files";
    const text = isFiles ? "[" : JSON.stringify(value);
    hash.update(`${at === 0 ? "{" : ","}${JSON.stringify(name)}:${text}`);
    if (!isFiles) continue;
    for (const [index, file] of files.entries()) {
      hash.update(`${index === 0 ? "" : ","}${JSON.stringify(file)}`);
    }
    hash.update("]");
  }
  return hash.update("}").digest("hex");
}
