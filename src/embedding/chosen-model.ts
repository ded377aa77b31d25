import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { BUILT_IN, CATALOGUE, catalogueModel } from "./catalogue.ts";
import { type Fetchable, fetchCatalogueModel, isFetched } from "./catalogue-download.ts";
import { cosineOf } from "./cosine.ts";
import { type Embedder, type EmbeddingModel, makesVectorsOf } from "./embedder.ts";
import { builtInModel, ManifestSchema } from "./manifest.ts";
import { prepareModel } from "./model.ts";
import type { ChosenModel } from "./model-choice.ts";
import { ModelError } from "./model-error.ts";
import { describeModelFolder, type ModelDescription } from "./model-folder.ts";
import { createWorkerEmbedder } from "./worker-embedder.ts";

/** Texts about unrelated subjects. */
const UNRELATED = [
  "The dentist moved the appointment to Thursday at nine.",
  "Rust's borrow checker refuses two mutable references.",
  "Grandmother's goulash needs three onions and sweet paprika.",
  "The quarterly report is due before the board meets.",
  "Our cat is afraid of the vacuum cleaner.",
  "Flights to Lisbon are cheaper in February.",
  "He plays the cello in an amateur orchestra.",
  "The staging database runs PostgreSQL 16.",
  "She is allergic to penicillin.",
  "The bicycle's rear tyre loses air.",
  "Invoices are paid within thirty days.",
  "The garden gets too little sun for tomatoes.",
];

/**
 * Opens the embedder of the chosen model. A model other than the built-in one is loaded and measured first.
 * Only a model that CTXD_MODEL names may be downloaded.
 * @param model a folder or a name of the catalogue; `null` for the built-in one
 * @param by where the model was chosen
 * @throws ModelError, or AssetError when the cache folder can't be used
 */
export async function openChosenModel({
  model,
  by = "CTXD_MODEL",
  cacheDir,
  log,
  metrics,
}: {
  model: string | null;
  by?: ChosenModel["by"];
  cacheDir: string;
  log: Log;
  metrics?: Metrics;
}): Promise<Embedder> {
  if (model === null || model === BUILT_IN) {
    // Checked here, so that an unusable cache folder ends the start. The worker would retry forever.
    await prepareModel({ cacheDir });
    return createWorkerEmbedder({ cacheDir, log, ...(metrics && { metrics }) });
  }
  const description = await describeChosen(model, { by, cacheDir, log });
  const manifest = { ...description, dimension: 0, cosines: { unrelated: 0, same: 1 } };
  await prepareModel({ cacheDir, manifest });
  const embedder = createWorkerEmbedder({ cacheDir, log, manifest, ...(metrics && { metrics }) });
  try {
    return { ...embedder, model: { ...manifest, ...(await measure(embedder)) } };
  } catch (cause) {
    await embedder.close();
    const reason = messageOf(cause);
    throw new ModelError(`${by}: ${model} can't be used: ${reason}`, { cause });
  }
}

/**
 * Opens the embedder of a model that a table records. Its files are in the cache or their former folder.
 * @throws ModelError when the table's record is not the description of a model
 */
export function openRecordedModel(
  model: EmbeddingModel,
  { cacheDir, log }: { cacheDir: string; log: Log },
): Embedder {
  if (makesVectorsOf(builtInModel, model.id)) return createWorkerEmbedder({ cacheDir, log });
  if (!Value.Check(ManifestSchema, model)) {
    throw new ModelError(
      `Some vectors are of the model ${model.id}, which this program does not know.`,
    );
  }
  return createWorkerEmbedder({ cacheDir, log, manifest: model });
}

async function describeChosen(
  model: string,
  { by, cacheDir, log }: { by: ChosenModel["by"]; cacheDir: string; log: Log },
): Promise<ModelDescription> {
  const { fetched } = catalogueModel(model) ?? {};
  if (fetched) {
    await requireFetched(model, fetched, { cacheDir, mayFetch: by === "CTXD_MODEL", log });
    return fetched.description;
  }
  const folder = resolve(model);
  if (existsSync(folder)) return describeModelFolder(folder);
  throw new ModelError(
    `${by}: ${model} is neither a folder nor a name of ctxd model list (${CATALOGUE.map(({ name }) => name).join(", ")}): copy the model's files to a folder and name that folder, or choose one of these names.`,
  );
}

async function requireFetched(
  name: string,
  fetched: Fetchable,
  { cacheDir, mayFetch, log }: { cacheDir: string; mayFetch: boolean; log: Log },
): Promise<void> {
  if (await isFetched(fetched.description, cacheDir)) return;
  if (!mayFetch) {
    throw new ModelError(
      `The model ${name} is not in ${cacheDir}: run ctxd model fetch ${name}, or ctxd model use ${BUILT_IN}.`,
    );
  }
  log.info("model_download", { model: name, url: fetched.address });
  await fetchCatalogueModel(fetched, cacheDir);
}

/** Measures the length of a model's vectors and the cosines of unrelated texts. */
async function measure(embedder: Embedder): Promise<Pick<EmbeddingModel, "dimension" | "cosines">> {
  await embedder.ready();
  const embeddings = await Promise.all(UNRELATED.map((text) => embedder.embedQuery(text)));
  const vectors = embeddings.map(({ vector }) => vector);
  const cosines = vectors.flatMap((one, index) =>
    vectors.slice(index + 1).map((other) => cosineOf(one, other)),
  );
  if (!cosines.every(Number.isFinite))
    throw new Error("its vectors contain values that are not numbers");
  // The upper quartile; the built-in model's value was chosen in the same way.
  const unrelated = cosines.sort((a, b) => a - b)[Math.floor(cosines.length * 0.75)] ?? 0;
  if (unrelated > 0.98) throw new Error("it returns nearly the same vector for every text");
  return {
    dimension: vectors[0]?.length ?? 0,
    cosines: { unrelated: Math.round(Math.max(0, unrelated) * 100) / 100, same: 1 },
  };
}
