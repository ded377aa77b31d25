import { deserialize, serialize } from "bun:jsc";
import { Database } from "bun:sqlite";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import type { Embedder } from "../../src/embedding/embedder.ts";
import { GRAPH_SHA256 } from "../../src/embedding/relations/relation-model.ts";
import { sharedEmbedder, testCacheDir } from "../support/embedder.ts";

/** One grows when an embedder gives something else for a text, or for a pair of texts, with the same model. */
const FORMATS = { query: 3, content: 2, relation: 2 };

/**
 * An embedder that keeps on disk what it has once embedded or related, by the model's id and the texts, so
 * that the next run does not wait for the models.
 */
export function cacheEmbeddings(embedder: Embedder, path: string): Embedder {
  mkdirSync(dirname(path), { recursive: true });
  const db = new Database(path);
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA synchronous = OFF");
  db.run("PRAGMA busy_timeout = 10000");
  db.run("CREATE TABLE IF NOT EXISTS embedded (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID");
  const get = db.query<{ value: Uint8Array<ArrayBuffer> }, [Uint8Array]>(
    "SELECT value FROM embedded WHERE key = ?",
  );
  const put = db.query("INSERT OR REPLACE INTO embedded VALUES (?, ?)");

  const remember =
    <Texts extends string[], Result>(
      format: number,
      kind: string,
      make: (...texts: Texts) => Promise<Result>,
    ) =>
    async (...texts: Texts): Promise<Result> => {
      const name = `${format} ${embedder.model.id}\n${kind}\n${texts.join("\0")}`;
      const key = new Bun.CryptoHasher("sha256").update(name).digest();
      const known = get.get(key);
      if (known) return deserialize(known.value);
      const made = await make(...texts);
      put.run(key, new Uint8Array(serialize(made)));
      return made;
    };

  const relate = remember(
    FORMATS.relation,
    `relation ${GRAPH_SHA256}`,
    // How many pairs wait changes no answer.
    (earlier: string, later: string) => embedder.relate(earlier, later),
  );

  return {
    ...embedder,
    embedQuery: remember(FORMATS.query, "query", (text: string) => embedder.embedQuery(text)),
    embedContent: remember(FORMATS.content, "content", (text: string) =>
      embedder.embedContent(text),
    ),
    relate: (earlier, later) => relate(earlier, later),
    async close() {
      db.close();
      await embedder.close();
    },
  };
}

const ROOT = join(import.meta.dir, "..", "..");
/** All that an embedding depends on: the code, the model and the libraries. */
const SOURCES = "{src/{embedding,native}/**/*,bun.lock}";
const NAME = "embedded-";

/**
 * The embedder of the tests that ask for meaning. What one test file has embedded, no other one embeds, nor the next
 * run, until something changes that embeddings depend on.
 */
export function rememberingEmbedder(): Embedder {
  const hash = new Bun.CryptoHasher("sha256").update(Bun.version);
  for (const path of [...new Glob(SOURCES).scanSync(ROOT)].sort()) {
    hash.update(`\0${path}\0`).update(readFileSync(join(ROOT, path)));
  }
  const name = `${NAME}${hash.digest("hex").slice(0, 16)}`;
  mkdirSync(testCacheDir, { recursive: true });
  for (const other of readdirSync(testCacheDir)) {
    const isOutdated = other.startsWith(NAME) && !other.startsWith(name);
    if (isOutdated) rmSync(join(testCacheDir, other), { force: true });
  }
  return cacheEmbeddings(sharedEmbedder(), join(testCacheDir, `${name}.sqlite`));
}
