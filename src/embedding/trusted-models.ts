import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { hashFile } from "../native/asset.ts";
import { writeJsonFile } from "./json-file.ts";
import { ModelError } from "./model-error.ts";

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** The SHA-256 hashes of a model at its first download, which are trusted from then on. */
const TrustedModel = Type.Object({
  /** Hash of the archive; null for files that a person copied into the cache. */
  archive: Type.Union([Sha256, Type.Null()]),
  files: Type.Record(Type.String(), Sha256),
});
export type TrustedModel = Static<typeof TrustedModel>;
const TrustedModels = Type.Record(Type.String(), TrustedModel);

/**
 * The file with the hashes of downloaded models. It is in the data folder, because the cache may be removed
 * at any time and filled again by other programs.
 */
export function trustedModelsPath(dataDir: string): string {
  return join(dataDir, "models.json");
}

/** The recorded hashes of a model; null without a record. @throws ModelError when the file is damaged */
export async function readTrustedModel(
  dataDir: string,
  name: string,
): Promise<TrustedModel | null> {
  return (await readAll(dataDir))[name] ?? null;
}

/** Records the hashes of a model permanently. */
export async function trustModel(
  dataDir: string,
  name: string,
  model: TrustedModel,
): Promise<void> {
  const models = { ...(await readAll(dataDir)), [name]: model };
  await writeJsonFile(trustedModelsPath(dataDir), JSON.stringify(models, null, 1));
}

/** The SHA-256 of each file in a folder, by its path there. */
export async function hashFiles(folder: string): Promise<Record<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const hashes: Record<string, string> = {};
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) throw new Error(`${path} is not a regular file`);
    hashes[path.slice(folder.length + 1)] = await hashFile(path);
  }
  return hashes;
}

async function readAll(dataDir: string): Promise<Static<typeof TrustedModels>> {
  const path = trustedModelsPath(dataDir);
  const text = await readFile(path, "utf8").catch((error) => {
    if (error.code === "ENOENT") return "{}";
    throw new ModelError(`${path} can't be read (${error.code}).`, { cause: error });
  });
  const damaged = `${path} is damaged. It has the hashes of downloaded models: remove it to trust the next downloads.`;
  try {
    const models: unknown = JSON.parse(text);
    if (Value.Check(TrustedModels, models)) return models;
  } catch (cause) {
    throw new ModelError(damaged, { cause });
  }
  throw new ModelError(damaged);
}
