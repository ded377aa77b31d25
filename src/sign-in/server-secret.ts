import { eq } from "drizzle-orm";
import type { Database } from "../db/database.ts";
import { createSecret } from "../db/secret.ts";
import { serverSecrets } from "./tables.ts";

/** A secret of this server alone, made when it is first asked for. @param name what it is for */
export function readServerSecret({ orm }: Database, name: string): string {
  const find = () =>
    orm.select().from(serverSecrets).where(eq(serverSecrets.name, name)).get()?.value;
  const known = find();
  if (known !== undefined) return known;
  const value = createSecret("");
  orm.insert(serverSecrets).values({ name, value }).onConflictDoNothing().run();
  // Of two processes that are as quick, one has made it.
  return find() ?? value;
}
