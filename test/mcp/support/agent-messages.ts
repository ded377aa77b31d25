export const OLD = "2025-11-25";
export const NEW = "2026-07-28";

/** The fields by which a message of version 2026-07-28 describes itself. */
export const envelope = (name: string) => ({
  _meta: {
    "io.modelcontextprotocol/protocolVersion": NEW,
    "io.modelcontextprotocol/clientInfo": { name, version: "1.0.0" },
    "io.modelcontextprotocol/clientCapabilities": {},
  },
});

export const initialize = {
  method: "initialize",
  params: { protocolVersion: OLD, capabilities: {}, clientInfo: { name: "x", version: "1" } },
};
