// Brings the memories of one server into another, however many there are.
import { createClient } from "@ctxd/client";

const { FROM_URL, FROM_KEY = "", CTXD_URL, CTXD_KEY = "" } = process.env;
const from = createClient({ url: FROM_URL, key: FROM_KEY });
const to = createClient({ url: CTXD_URL, key: CTXD_KEY });

const { created, updated, unchanged } = await to.import(from.export());
console.log(`${created} new, ${updated} newer, ${unchanged} here already`);
