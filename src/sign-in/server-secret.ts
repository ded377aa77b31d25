import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret } from "../db/secret.ts";
import { createSignInTables } from "./tables.ts";

/** Returns a secret of this server, which is created when first needed. @param name its purpose */
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
  // If two processes do this at once, only one of them creates it.
  return (await find()) ?? value;
}
