import { connectPostgres } from "../../src/db/postgres.ts";
import { createObjects } from "../../src/objects/objects.ts";
import { sharedObjects } from "./object-store.ts";
import { openPostgres } from "./open-postgres.ts";
import { sharedPostgres } from "./postgres.ts";

/** Makes the tables of this version, which no server has used yet. */
export async function migrated(url: string): Promise<void> {
  await (await openPostgres(url)).close();
}

/**
 * What replicas share, without a replica: an empty database, and a prefix of an object store. Ended by
 * `await using`.
 */
export async function sharedPlace() {
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await (await sharedPostgres()).database(migrated));
  const { store, place } = await sharedObjects();
  const postgres = connectPostgres(database.url);
  opening.defer(postgres.close);
  const objects = createObjects(place);
  const opened = opening.move();
  return {
    ...{ database, store, postgres, objects },
    /** Names of all objects. */
    names: async () => (await Array.fromAsync(objects.list(""))).flat().map(({ name }) => name),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
