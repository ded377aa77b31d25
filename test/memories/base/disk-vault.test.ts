import { expect, test } from "bun:test";
import { join } from "node:path";
import { createDiskVault } from "../../../src/memories/base/base-folder.ts";
import { temporaryFolder } from "../../support/database.ts";
import { describeVault, WHOLE, writeBase } from "./vault-contract.ts";

describeVault("the disk's vault", createDiskVault);

test.each(Object.keys(WHOLE))("a base whose %s is torn is damaged", async (file) => {
  const folder = join(temporaryFolder(), "memories");
  writeBase(folder, "a");
  writeBase(folder, "a", { [file]: "" });
  const restored = createDiskVault(folder).restore("a", Object.keys(WHOLE));
  const error = await restored.catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "unavailable" });
  expect(String((error as Error).cause)).toContain(file);
});
