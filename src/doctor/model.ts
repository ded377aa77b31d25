import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUILT_IN, CATALOGUE, catalogueModel } from "../embedding/catalogue.ts";
import { assetOf, isFetched } from "../embedding/catalogue-download.ts";
import { openChosenModel } from "../embedding/chosen-model.ts";
import { cosineOf } from "../embedding/cosine.ts";
import { FASTEMBED_NAMES, fastembedFolder } from "../embedding/fastembed-download.ts";
import { builtInModel } from "../embedding/manifest.ts";
import { findModel } from "../embedding/model.ts";
import type { ChosenModel } from "../embedding/model-choice.ts";
import { createWorkerEmbedder } from "../embedding/worker-embedder.ts";
import { createLog } from "../log.ts";
import { type Asset, assetFolder, hashFile } from "../native/asset.ts";
import { embeddedAsset } from "../native/embedded-asset.ts";
import { type LanceDb, loadLanceDb } from "../native/lancedb.ts";
import { CAN_REMOVE_LOADED, linkFile } from "../system/files.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";

const SILENT = createLog({ logLevel: "silent", logFormat: "text" });

/** Whether the files of the model in the cache folder are those that belong there. */
export async function checkModelFiles(cacheDir: string): Promise<Finding> {
  const { ok, problem } = findingsOf("model");
  try {
    const asset = findModel();
    const folder = assetFolder(asset, cacheDir);
    const missing: string[] = [];
    for (const { name, sha256 } of asset.files) {
      const path = join(folder, name);
      if (!(await Bun.file(path).exists())) missing.push(name);
      else if ((await hashFile(path)) !== sha256) {
        return problem(`${path} is damaged: remove ${folder}, the next start makes it anew.`);
      }
    }
    if (missing.length > 0) return ok(`${builtInModel.id}, unpacked by the next start`);
    return ok(`${builtInModel.id}, complete in ${folder}`);
  } catch (error) {
    return problem(`${reasonOf(error)}.`);
  }
}

/** Whether the native library of the tables loads; with the library if it does. */
export async function checkTableLibrary(
  cacheDir: string,
): Promise<{ finding: Finding; lancedb: LanceDb | null }> {
  const { ok, problem } = findingsOf("libraries");
  try {
    return { lancedb: await loadLanceDb(cacheDir), finding: ok("LanceDB loads") };
  } catch (error) {
    return { lancedb: null, finding: problem(`${reasonOf(error)}.`) };
  }
}

/** A question whose answer shares no word with it. Its cosine is 0.67, that of the other text 0.38. */
const QUESTION = {
  text: "what food must the child avoid",
  answer: "My daughter is allergic to peanuts.",
  other: "The router stands behind the bookshelf.",
  least: 0.15,
};

/** Whether a text becomes a vector that its meaning is found by, in a worker as in the server. */
export async function checkEmbedding(cacheDir: string): Promise<Finding> {
  const { ok, problem } = findingsOf("embedding");
  const embedder = createWorkerEmbedder({ cacheDir, log: SILENT });
  try {
    await embedder.ready();
    const { vector } = await embedder.embedQuery(QUESTION.text);
    const length = Math.hypot(...vector);
    if (vector.length !== builtInModel.dimension || Math.abs(length - 1) > 1e-3) {
      return problem(
        `a text became ${vector.length} numbers of length ${length}: get this program anew.`,
      );
    }
    // Where a processor, or its emulator, computes wrong, all texts have nearly the same vector.
    const [near = [], far = []] = await Promise.all(
      [QUESTION.answer, QUESTION.other].map(
        async (text) => (await embedder.embedContent(text)).vectors[0],
      ),
    );
    if (cosineOf(vector, near) - cosineOf(vector, far) < QUESTION.least) {
      return problem("what is meant is not found: get this program anew, or use another machine.");
    }
    return ok("a text became a vector");
  } catch (error) {
    const reason = reasonOf(error);
    // What the cache folder is the reason for says itself how to mend it.
    const remedy = reason.includes("CTXD_CACHE_DIR") ? "" : ": get this program anew";
    return problem(`the model does not run (${reason})${remedy}.`);
  } finally {
    await embedder.close();
  }
}

/**
 * Whether the model of CTXD_MODEL or of `ctxd model use` can be used. One that is still to be downloaded
 * is not.
 * @param chosen or why that can't be told
 * @param trialDir where its files may be put meanwhile
 */
export async function checkChosenModel(
  chosen: ChosenModel | Error,
  cacheDir: string,
  trialDir: string,
): Promise<Finding> {
  const { ok, problem } = findingsOf("model");
  if (chosen instanceof Error) return problem(chosen.message);
  const { by } = chosen;
  const model = chosen.model ?? BUILT_IN;
  const { fetched } = catalogueModel(model) ?? {};
  const isName = FASTEMBED_NAMES.includes(model);
  const folder = isName ? fastembedFolder(model, cacheDir) : model;
  const isMissing = fetched
    ? by === "CTXD_MODEL" && !(await isFetched(fetched.description, cacheDir))
    : isName && !existsSync(folder);
  if (isMissing) return ok(`${model} is downloaded by the next start`);
  try {
    const embedder = await openChosenModel({
      ...{ model: folder, by, cacheDir: trialDir, dataDir: trialDir, log: SILENT },
    });
    await embedder.close();
    return ok(`${embedder.model.id} makes vectors of ${embedder.model.dimension} numbers`);
  } catch (error) {
    return problem(`${reasonOf(error)}.`);
  }
}

/**
 * A cache folder for trials: what is in the real one is there by links, and what has to be unpacked
 * or replaced goes no further. Windows removes no library that is loaded: there it is the folder itself,
 * in which the trial unpacks what the next start would.
 */
export async function makeTrialCache(
  cacheDir: string,
): Promise<AsyncDisposable & { readonly folder: string }> {
  if (!CAN_REMOVE_LOADED) return { folder: cacheDir, [Symbol.asyncDispose]: async () => {} };
  const folder = await mkdtemp(join(tmpdir(), "ctxd-doctor-"));
  for (const asset of knownAssets()) await linkFiles(asset, cacheDir, folder);
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

function knownAssets(): Asset[] {
  const libraries = ["lancedb", "inference", "cxx"].map(embeddedAsset);
  const fetched = CATALOGUE.flatMap((model) => model.fetched?.description ?? []);
  return [findModel(), ...fetched.map(assetOf), ...libraries.filter((asset) => asset !== null)];
}

async function linkFiles(asset: Asset, cacheDir: string, trialDir: string): Promise<void> {
  const [from, to] = [assetFolder(asset, cacheDir), assetFolder(asset, trialDir)];
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const { name } of asset.files) {
    const isThere = await stat(join(from, name)).catch(() => null);
    if (isThere) await linkFile(join(from, name), join(to, name));
  }
}
