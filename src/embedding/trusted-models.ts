import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { hashFile } from "../native/asset.ts";
import { writeJsonFile } from "./json-file.ts";
import { ModelError } from "./model-error.ts";

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });

/** What a downloaded model was when it came for the first time, as SHA-256. */
const TrustedModel = Type.Object({
  /** Of the archive; null for files that somebody put there by hand. */
  archive: Type.Union([Sha256, Type.Null()]),
  files: Type.Record(Type.String(), Sha256),
});
export type TrustedModel = Static<typeof TrustedModel>;
const TrustedModels = Type.Record(Type.String(), TrustedModel);

/**
 * The file that remembers downloaded models. It is in the data folder, because a cache may be removed
 * at any time and filled again by others.
 */
export function trustedModelsPath(dataDir: string): string {
  return join(dataDir, "models.json");
}

/** What is remembered of a model; null for nothing. @throws ModelError when the file is damaged */
export async function readTrustedModel(
  dataDir: string,
  name: string,
): Promise<TrustedModel | null> {
  return (await readAll(dataDir))[name] ?? null;
}

/** Remembers a model, for good. */
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
    if (!entry.isFile()) throw new Error(`${path} is no regular file`);
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
  const damaged = `${path} is damaged: it tells which models were downloaded. Remove it to accept those that come next.`;
  try {
    const models: unknown = JSON.parse(text);
    if (Value.Check(TrustedModels, models)) return models;
  } catch (cause) {
    throw new ModelError(damaged, { cause });
  }
  throw new ModelError(damaged);
}
