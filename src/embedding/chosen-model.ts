import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { AppError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { BUILT_IN, CATALOGUE, catalogueModel } from "./catalogue.ts";
import { type DownloadableModel, fetchCatalogueModel, isFetched } from "./catalogue-download.ts";
import { cosineOf, type Embedder, type EmbeddingModel, makesVectorsOf } from "./embedder.ts";
import { builtInModel, ManifestSchema, ModelError, prepareModel } from "./manifest.ts";
import type { ChosenModel } from "./model-choice.ts";
import { describeModelFolder, type ModelDescription } from "./model-folder.ts";
import { createWorkerEmbedder } from "./worker-embedder.ts";

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
  engines,
}: {
  model: string | null;
  by?: ChosenModel["by"];
  cacheDir: string;
  log: Log;
  metrics?: Metrics;
  /** How many embedding engines there may be; 1 by default. */
  engines?: number;
}): Promise<Embedder> {
  if (model === null || model === BUILT_IN) {
    // Checked here, so that an unusable cache folder ends the start. The worker would retry forever.
    await prepareModel({ cacheDir });
    return createWorkerEmbedder({ cacheDir, log, metrics, engines });
  }
  const description = await describeChosen(model, { by, cacheDir, log });
  const manifest = { ...description, dimension: 0, cosines: { unrelated: 0, same: 1 } };
  await prepareModel({ cacheDir, manifest });
  const embedder = createWorkerEmbedder({ cacheDir, log, metrics, manifest, engines });
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
  fetched: DownloadableModel,
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

/** The embedders of all models whose vectors are in use. */
export type Embedders = ReturnType<typeof createEmbedders>;

interface Started {
  embedder: Embedder;
  pending: number;
  isReleased: boolean;
}

/**
 * @param wanted the embedder of new vectors
 * @param open starts the embedder of another model. It may throw.
 */
export function createEmbedders(
  wanted: Embedder,
  open: (model: EmbeddingModel) => Embedder = missing,
) {
  const others = new Map<string, Started>();

  const start = (model: EmbeddingModel): Started => {
    const started = { embedder: wanted, pending: 0, isReleased: false };
    const embedder = tryOpen(model, open);
    const counted = async <Result>(work: Promise<Result>) => {
      started.pending++;
      try {
        return await work;
      } finally {
        started.pending--;
        endUnused(started, embedder);
      }
    };
    started.embedder = {
      ...embedder,
      // The properties that the table records, which were measured once.
      model,
      relate: wanted.relate,
      embedQuery: (...asked) => counted(embedder.embedQuery(...asked)),
      embedContent: (...asked) => counted(embedder.embedContent(...asked)),
    };
    return started;
  };

  const endUnused = (started: Started, embedder: Embedder) => {
    if (started.isReleased && started.pending === 0) void embedder.close();
  };

  return {
    wanted,
    /** The embedder of a model, started at its first use. */
    of(model: EmbeddingModel): Embedder {
      if (makesVectorsOf(wanted.model, model.id)) return wanted;
      const started = others.get(model.id) ?? start(model);
      others.set(model.id, started);
      return started.embedder;
    },
    /** Ends all embedders but `wanted`, each after its last text. */
    release(): void {
      for (const started of others.values()) {
        started.isReleased = true;
        endUnused(started, started.embedder);
      }
      others.clear();
    },
    async close(): Promise<void> {
      await Promise.all([...others.values()].map(({ embedder }) => embedder.close()));
      await wanted.close();
    },
  };
}

function tryOpen(model: EmbeddingModel, open: (model: EmbeddingModel) => Embedder): Embedder {
  try {
    return open(model);
  } catch (cause) {
    return failing(model, cause);
  }
}

/** Replaces a model that can't be opened. It refuses every text, so that other requests still work. */
function failing(model: EmbeddingModel, cause: unknown): Embedder {
  const error = new AppError(
    "unavailable",
    "The model of these vectors is missing. They are being embedded again: try again later.",
    { cause, retryAfter: 30 },
  );
  const refuse = () => Promise.reject(error);
  // Never ready: a search that does not require the model then searches by words.
  const ready = () => new Promise<never>(() => {});
  const refused = { embedQuery: refuse, embedContent: refuse, relate: refuse };
  return { model, ready, ...refused, close: async () => {} };
}

function missing(model: EmbeddingModel): never {
  throw new Error(`no way to open the model ${model.id}`);
}
