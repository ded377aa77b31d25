import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../../src/db/migrations.ts";
import { builtInModel } from "../../../src/embedding/manifest.ts";
import { baseSchema } from "../../../src/memories/base/schema.ts";

/** An older program rewrites a base without what it does not know: it must not open it. */
test("a column of bases comes with a step of the database, by which older programs refuse it", () => {
  const columns = baseSchema(builtInModel).fields.map(({ name }) => name);
  expect({ schema: MIGRATIONS.length, columns: columns.join(" ") }).toEqual({
    schema: 17,
    columns:
      "id passage passages content words tags agent_id session_id project importance pinned supersedes superseded_by metadata source_via source_by source_id created_at updated_at expires_at starts states vector",
  });
});
