import { type Client, createClient } from "@ctxd/client";

/** CTXD_KEY is a key (`ctxd key create`), CTXD_URL the server's address, if it is not on this machine. */
const { CTXD_KEY: key = "", CTXD_URL: url } = process.env;
export const client: Client = createClient({ url, key, project: "examples" });
