import { LRUCache } from "lru-cache";
import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import { createMetrics, type Metrics } from "../metrics.ts";
import { createFairShares } from "../timing/fair-shares.ts";
import { createTurnstile } from "../timing/pause.ts";
import type { Caller, Embedder, QueryEmbedding } from "./embedder.ts";
import { createEnginePool } from "./engine-pool.ts";
import { builtInModel, type ModelManifest } from "./manifest.ts";
import { createRelater } from "./relations/relater.ts";
import {
  connectWorker,
  type Embeddings,
  spawnWorker,
  type TextKind,
  type WorkerConnection,
} from "./worker-connection.ts";

type Admission = ReturnType<typeof createAdmission>;

/** @param max how many texts of all accounts may wait, and their characters: this limits memory and waiting times */
export function createAdmission(max: { texts: number; characters: number }) {
  const texts = createFairShares(max.texts);
  const characters = createFairShares(max.characters);

  return {
    /** Number of texts that wait or are being embedded. */
    waiting: () => texts.taken(),
    /** Runs work on a text of this size. @throws AppError `unavailable` when there is no room */
    async admit<T>(
      { accountId, credential }: Caller,
      size: number,
      work: () => Promise<T>,
    ): Promise<T> {
      const names = [`account ${accountId}`, `key ${accountId} ${credential?.id ?? ""}`];
      if (!texts.allows(names, 1) || !characters.allows(names, size)) {
        throw new AppError(
          "unavailable",
          "Too many texts are waiting to be embedded: try again in a moment.",
          { retryAfter: 1 },
        );
      }
      texts.add(names, 1);
      characters.add(names, size);
      try {
        return await work();
      } finally {
        texts.add(names, -1);
        characters.add(names, -size);
      }
    },
  };
}

/** Cached queries. Each takes about 3 KB. */
const CACHED_QUERIES = 1_000;
const MAX_WAITING_QUERIES = { texts: 1_000, characters: 2_000_000 };
/** Four batches of the maximum size (256 contents of 32,768 characters): one key may send one of them. */
const MAX_WAITING_CONTENTS = { texts: 8_192, characters: 4 * 256 * 32_768 };
/** Queries that may wait while results of searches are read by the model of relations: it needs as much of a core as the engine. */
const MOST_READING = 8;
/** The server, which embeds memories again for another model. */
const ITSELF: Caller = { accountId: "" };

/**
 * An embedder whose engines run in workers; see `createEnginePool`. The first one is started immediately.
 * Embeddings of queries are shared between callers: do not modify them.
 * @param manifest describes a model other than the built-in one
 * @param engines how many there may be
 */
export function createWorkerEmbedder(options: {
  cacheDir: string;
  log: Log;
  metrics?: Metrics | undefined;
  manifest?: ModelManifest;
  engines?: number | undefined;
  spawn?: () => Worker;
}): Embedder {
  const { cacheDir, log } = options;
  const { metrics = createMetrics(), manifest = builtInModel, spawn = spawnWorker } = options;
  const { engines = 1 } = options;
  const queries = createAdmission(MAX_WAITING_QUERIES);
  const contents = createAdmission(MAX_WAITING_CONTENTS);
  const recent = new LRUCache<string, Promise<QueryEmbedding>>({ max: CACHED_QUERIES });
  // A search goes on in one step of the main thread. Many at once would let nobody else be answered in between.
  const passOne = createTurnstile();
  const measured = measure(metrics, { query: queries, content: contents });
  const connect = (which: "first" | "further"): WorkerConnection => {
    const isFurther = which === "further";
    const connection = connectWorker(spawn(), { cacheDir, manifest, isFurther });
    const started = performance.now();
    connection.loaded.then(
      () => log.debug("embedding_ready", { ms: Math.round(performance.now() - started) }),
      () => {},
    );
    return connection;
  };
  const relater = createRelater({
    cacheDir,
    log,
    isBusy: () => queries.waiting() > MOST_READING,
  });
  const pool = createEnginePool({
    connect,
    size: engines,
    onEnd(reason, restartMs) {
      if (restartMs !== null) measured.restarts.inc();
      log.error("embedding_worker_ended", { reason: reason.message, restart_ms: restartMs });
    },
  });

  async function embed<Type extends TextKind>(
    type: Type,
    text: string,
    caller: Caller,
  ): Promise<Embeddings[Type]> {
    const end = measured.durations.startTimer({ type });
    const embedding = await pool.embed(type, text, caller);
    end();
    return embedding;
  }

  return {
    model: manifest,
    ready: pool.ready,
    embedQuery(text, { accountId, credential } = ITSELF) {
      const known = recent.get(text);
      measured.lookups.inc({ result: known ? "hit" : "miss" });
      if (known) return known;
      // Others may wait for the same query, so it stays when this one goes.
      const caller = { accountId, ...(credential && { credential }) };
      const embedding = queries.admit(caller, text.length, async () => {
        const embedded = await embed("query", text, caller);
        await passOne();
        return embedded;
      });
      recent.set(text, embedding);
      embedding.catch(() => {
        if (recent.peek(text) === embedding) recent.delete(text);
      });
      return embedding;
    },
    embedContent: (text, caller = ITSELF) =>
      contents.admit(caller, text.length, () => embed("content", text, caller)),
    relate: relater.relate,
    async close() {
      await Promise.all([pool.close(), relater.close()]);
    },
  };
}

function measure(metrics: Metrics, waiting: Record<TextKind, Admission>) {
  for (const [type, admission] of Object.entries(waiting)) {
    const help = `Texts of this kind (${type}) that wait for their embedding.`;
    metrics.gauge(`ctxd_embedding_${type}_queue`, help, admission.waiting);
  }
  return {
    durations: metrics.durations(
      "ctxd_embedding_duration_seconds",
      "Time from the arrival of a text at the embedding engine to its embedding, including the wait.",
      ["type"],
    ),
    lookups: metrics.counter(
      "ctxd_query_cache_lookups_total",
      "Lookups of queries in the cache of recent embeddings.",
      ["result"],
    ),
    restarts: metrics.counter(
      "ctxd_embedding_restarts_total",
      "Restarts of the embedding engine after an unexpected end.",
    ),
  };
}
