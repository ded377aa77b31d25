import { type Client, createClient } from "../src/index.ts";

let last = 0;

/** A client of the tests' server, with its own project. */
export function newClient(project: string | null = `test-${process.pid}-${++last}`): Client {
  const { CTXD_URL: url, CTXD_KEY: key } = process.env;
  if (!url || !key) throw new Error("CTXD_URL and CTXD_KEY name the server to test with.");
  return createClient({ url, key, project: project ?? undefined });
}
