import type * as LanceDb from "@lancedb/lancedb";

/**
 * Opens a folder of tables. A table is a folder there and nothing else: the list of tables that
 * LanceDB can keep beside them would be one more file to back up, and it would name forgotten ones.
 * @param session has the caches, and is given back with the connection
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
