import type * as LanceDb from "@lancedb/lancedb";

/**
 * Opens a folder of LanceDB tables. Each table is a folder in it. LanceDB's own list of tables is switched off: it
 * would be one more file to back up, and it would name forgotten tables.
 * @param session the caches; closing the connection frees them
 */
export function connectTo(
  lancedb: typeof LanceDb,
  folder: string,
  session?: LanceDb.Session,
): Promise<LanceDb.Connection> {
  return lancedb.connect(
    folder,
    { namespaceClientProperties: { manifest_enabled: "false" } },
    session,
  );
}
