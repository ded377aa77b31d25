import { Database } from "bun:sqlite";
import { join } from "node:path";
import * as sqliteVec from "sqlite-vec";
import { LIMIT, type Peer } from "./peer.ts";
import { answerCalls, type Library, startLibrary } from "./program.ts";

/** SQLite with vectors, in a program of ours. */
export const sqliteVecPeer: Peer = {
  name: "sqlite-vec",
  needsVectors: true,
  scope: "meaning; is on disk; none",
  start: (folder) => startLibrary(import.meta.path, folder),
};

/** @param dimension of the vectors, which a table is made for */
function createTable(database: Database, dimension: number): void {
  database.run(
    `CREATE VIRTUAL TABLE IF NOT EXISTS memories USING vec0(embedding float[${dimension}], +content text)`,
  );
}

function openLibrary(folder: string): Library {
  const database = new Database(join(folder, "memories.db"));
  sqliteVec.load(database);
  const insert = database.transaction((passages: { text: string; vector: Float32Array }[]) => {
    createTable(database, passages[0]?.vector.length ?? 0);
    const into = database.query("INSERT INTO memories (embedding, content) VALUES (?, ?)");
    for (const { text, vector } of passages) into.run(vector, text);
  });
  const nearest = `SELECT content, distance FROM memories WHERE embedding MATCH ? AND k = ${LIMIT}`;
  return {
    load: (memories) => insert(memories.flatMap(({ passages }) => passages)),
    search: ({ vector }) => JSON.stringify(database.query(nearest).all(vector)),
    close: () => database.close(),
  };
}

if (import.meta.main) answerCalls({ ...openLibrary(Bun.argv[2] ?? "") });
