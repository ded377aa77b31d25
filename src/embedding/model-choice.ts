import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { replaceFile } from "../system/files.ts";
import { parsed } from "../text/parse-json.ts";
import { ModelError } from "./manifest.ts";

const Choice = Type.Object({ model: Type.String({ minLength: 1 }) });

/** The model that a server uses, and where it was chosen. */
export interface ChosenModel {
  /** A folder or a name; `null` for the built-in one. */
  readonly model: string | null;
  readonly by: "CTXD_MODEL" | "ctxd model use" | null;
}

/** The file with the choice of `ctxd model use`. */
export function choicePath(dataDir: string): string {
  return join(dataDir, "model.json");
}

/**
 * The model to use: that of the settings, otherwise the one that was chosen for the data folder. Replicas
 * use only that of the settings, because all must have the same.
 * @throws ModelError when the file with the choice can't be read or is damaged
 */
export async function readChoice({
  model,
  dataDir,
  shared = null,
}: {
  model: string | null;
  dataDir: string;
  shared?: object | null;
}): Promise<ChosenModel> {
  if (model !== null) return { model, by: "CTXD_MODEL" };
  if (shared !== null) return { model: null, by: null };
  const path = choicePath(dataDir);
  const text = await readFile(path, "utf8").catch((cause) => {
    if (["ENOENT", "ENOTDIR"].includes(cause.code)) return null;
    throw new ModelError(`${path} can't be read (${cause.code}).`, { cause });
  });
  if (text === null) return { model: null, by: null };
  const choice = parsed(text);
  if (Value.Check(Choice, choice)) return { model: choice.model, by: "ctxd model use" };
  throw new ModelError(`${path} is damaged: run ctxd model use again.`);
}

/** Stores the choice of `ctxd model use` atomically. @param model `null` for the built-in one */
export async function writeChoice(dataDir: string, model: string | null): Promise<void> {
  const path = choicePath(dataDir);
  if (model === null) return await rm(path, { force: true });
  await replaceFile(path, `${JSON.stringify({ model })}\n`, { isDurable: true });
}
