import { mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BUILT_IN, CATALOGUE, catalogueModel } from "../embedding/catalogue.ts";
import { isFetched } from "../embedding/catalogue-download.ts";
import { openChosenModel } from "../embedding/chosen-model.ts";
import { cosineOf } from "../embedding/embedder.ts";
import { builtInModel, modelFiles } from "../embedding/manifest.ts";
import type { ChosenModel } from "../embedding/model-choice.ts";
import { createWorkerEmbedder } from "../embedding/worker-embedder.ts";
import { silentLog } from "../log.ts";
import { type Asset, assetFolder, hashFile } from "../native/asset.ts";
import { embeddedAsset } from "../native/embedded-asset.ts";
import { type LanceDb, loadLanceDb } from "../native/lancedb.ts";
import { CAN_REMOVE_LOADED, linkFile } from "../system/files.ts";
import { type Finding, findingsOf, reasonOf } from "./finding.ts";

/** Checks the files of the built-in model in the cache folder. */
export async function checkModelFiles(cacheDir: string): Promise<Finding> {
  const { ok, problem } = findingsOf("model");
  try {
    const asset = modelFiles();
    const folder = assetFolder(asset, cacheDir);
    const missing: string[] = [];
    for (const { name, sha256 } of asset.files) {
      const path = join(folder, name);
      if (!(await Bun.file(path).exists())) missing.push(name);
      else if ((await hashFile(path)) !== sha256) {
        return problem(
          `${path} is damaged: remove ${folder}, and the next start creates it again.`,
        );
      }
    }
    if (missing.length > 0) return ok(`${builtInModel.id}, unpacked by the next start`);
    return ok(`${builtInModel.id}, complete in ${folder}`);
  } catch (error) {
    return problem(`${reasonOf(error)}.`);
  }
}

/** Checks that LanceDB loads, and returns it if it does. */
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

/** A query without a word of its answer. The cosine of the answer is 0.67, that of the other text 0.38. */
const SAMPLE = {
  text: "what food must the child avoid",
  answer: "My daughter is allergic to peanuts.",
  other: "The router stands behind the bookshelf.",
  minDifference: 0.15,
};

/** Checks that a query finds a text by its meaning, with a worker as in the server. */
export async function checkEmbedding(cacheDir: string): Promise<Finding> {
  const { ok, problem } = findingsOf("embedding");
  const embedder = createWorkerEmbedder({ cacheDir, log: silentLog });
  try {
    await embedder.ready();
    const { vector } = await embedder.embedQuery(SAMPLE.text);
    const length = Math.hypot(...vector);
    if (vector.length !== builtInModel.dimension || Math.abs(length - 1) > 1e-3) {
      return problem(
        `a text became ${vector.length} numbers of length ${length}: install this program again.`,
      );
    }
    // A processor or emulator that computes wrong gives nearly the same vector to all texts.
    const [near = [], far = []] = await Promise.all(
      [SAMPLE.answer, SAMPLE.other].map(
        async (text) => (await embedder.embedContent(text)).vectors[0],
      ),
    );
    if (cosineOf(vector, near) - cosineOf(vector, far) < SAMPLE.minDifference) {
      return problem(
        "a query does not find a text by its meaning: install this program again, or use another machine.",
      );
    }
    return ok("a text became a vector");
  } catch (error) {
    const reason = reasonOf(error);
    // Errors of the cache folder contain their own remedy.
    const remedy = reason.includes("CTXD_CACHE_DIR") ? "" : ": install this program again";
    return problem(`the model does not run (${reason})${remedy}.`);
  } finally {
    await embedder.close();
  }
}

/**
 * Checks that the model of CTXD_MODEL or `ctxd model use` works. It downloads nothing.
 * @param chosen the choice, or the error of reading it
 * @param trialDir temporary folder for its files
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
  if (fetched && by === "CTXD_MODEL" && !(await isFetched(fetched.description, cacheDir))) {
    return ok(`${model} is downloaded by the next start`);
  }
  try {
    const embedder = await openChosenModel({ model, by, cacheDir: trialDir, log: silentLog });
    await embedder.close();
    return ok(`${embedder.model.id} has vectors of ${embedder.model.dimension} numbers`);
  } catch (error) {
    return problem(`${reasonOf(error)}.`);
  }
}

/**
 * Creates a temporary cache folder with links to the files of the real one. Files that are unpacked or replaced
 * there do not change the real folder. Windows can't remove loaded libraries, so there the real folder is used,
 * and files are unpacked as by the next start.
 */
export async function createTrialCache(
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
  return [
    modelFiles(),
    ...fetched.map((each) => modelFiles(each)),
    ...libraries.filter((asset) => asset !== null),
  ];
}

async function linkFiles(asset: Asset, cacheDir: string, trialDir: string): Promise<void> {
  const [from, to] = [assetFolder(asset, cacheDir), assetFolder(asset, trialDir)];
  await mkdir(to, { recursive: true, mode: 0o700 });
  for (const { name } of asset.files) {
    const info = await stat(join(from, name)).catch(() => null);
    if (info) await linkFile(join(from, name), join(to, name));
  }
}
