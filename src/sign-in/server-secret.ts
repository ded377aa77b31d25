import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret } from "../db/secret.ts";
import { createSignInTables } from "./tables.ts";

/** A secret of this server alone, made when it is first asked for. @param name what it is for */
export async function readServerSecret({ orm, tables }: Database, name: string): Promise<string> {
  const { serverSecrets } = tables(createSignInTables);
  const find = async () => {
    const [row] = await orm.select().from(serverSecrets).where(eq(serverSecrets.name, name));
    return row?.value;
  };
  const known = await find();
  if (known !== undefined) return known;
  const value = createSecret("");
  await orm.insert(serverSecrets).values({ name, value }).onConflictDoNothing();
  // Of two processes that are as quick, one has made it.
  return (await find()) ?? value;
}
