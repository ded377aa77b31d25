import { afterAll, afterEach } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stopServer } from "../../support/bridge.ts";

/** The first message of a client. */
export const initialize = {
  id: 0,
  method: "initialize",
  params: {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  },
};

export const noDashboard = async () => ({ address: "", setUp: null });

/** The result or the error of an answer, as text. */
export function textOf(answer: Record<string, unknown>): string {
  return JSON.stringify(answer.result ?? answer.error);
}

/** A call of `save_memory`. */
export function saveCall(id: number | string, content: string) {
  const params = { name: "save_memory", arguments: { content } };
  return { id, method: "tools/call", params };
}

/** Data folders for the tests of a file. Their servers are stopped and the folders removed. */
export function createDataFolders() {
  const root = mkdtempSync(join(tmpdir(), "ctxd-test-"));
  const folders: string[] = [];
  const shared = join(root, "shared");
  afterEach(async () => {
    for (const folder of folders) await stopServer(folder);
  });
  afterAll(async () => {
    await stopServer(shared);
    rmSync(root, { recursive: true, force: true });
  });
  return {
    /** A folder whose server runs until the end of the file. */
    shared,
    /** The path of a folder that does not exist yet. Its server ends with the test. */
    newFolder(name = `data-${folders.length}`): string {
      const folder = join(root, name);
      folders.push(folder);
      return folder;
    },
  };
}
