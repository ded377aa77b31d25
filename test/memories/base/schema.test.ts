import { expect, test } from "bun:test";
import { MIGRATIONS } from "../../../src/db/migrations.ts";
import { POSTGRES_MIGRATIONS } from "../../../src/db/postgres-migrations.ts";
import { builtInModel } from "../../../src/embedding/manifest.ts";
import { baseSchema } from "../../../src/memories/base/schema.ts";

/**
 * An older program would rewrite a base without a column that it does not know, so it must refuse the data. A new
 * column needs a migration of both databases. In PostgreSQL, `oldest` of the migration must be its own number:
 * change all three numbers here together with the columns.
 */
test("a column of bases comes with a migration, by which older programs refuse the data", () => {
  const columns = baseSchema(builtInModel).fields.map(({ name }) => name);
  const { number, oldest } = POSTGRES_MIGRATIONS.at(-1) ?? {};
  expect({ schema: MIGRATIONS.length, number, oldest, columns: columns.join(" ") }).toEqual({
    schema: 22,
    number: 22,
    oldest: 13,
    columns:
      "id passage passages content words tags agent_id session_id project importance pinned supersedes superseded_by metadata source_via source_by source_id created_at updated_at expires_at starts states vector",
  });
});
