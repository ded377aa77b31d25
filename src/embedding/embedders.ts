import { AppError } from "../errors.ts";
import { type Embedder, type EmbeddingModel, makesVectorsOf } from "./embedder.ts";

/** The embedders of all models whose vectors are in use. */
export interface Embedders {
  /** The embedder of new vectors. */
  readonly wanted: Embedder;
  /** The embedder of a model, started at its first use. */
  of(model: EmbeddingModel): Embedder;
  /** Ends all embedders but `wanted`, each after its last text. */
  release(): void;
  close(): Promise<void>;
}

interface Started {
  embedder: Embedder;
  pending: number;
  isReleased: boolean;
}

/** @param open starts the embedder of another model. It may throw. */
export function createEmbedders(
  wanted: Embedder,
  open: (model: EmbeddingModel) => Embedder = missing,
): Embedders {
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
    of(model) {
      if (makesVectorsOf(wanted.model, model.id)) return wanted;
      const started = others.get(model.id) ?? start(model);
      others.set(model.id, started);
      return started.embedder;
    },
    release() {
      for (const started of others.values()) {
        started.isReleased = true;
        endUnused(started, started.embedder);
      }
      others.clear();
    },
    async close() {
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
  return { model, ready, embedQuery: refuse, embedContent: refuse, close: async () => {} };
}

function missing(model: EmbeddingModel): never {
  throw new Error(`no way to open the model ${model.id}`);
}
