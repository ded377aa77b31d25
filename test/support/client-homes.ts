import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CLIENTS, findClient } from "../../src/connect/clients.ts";
import { readEntry } from "../../src/connect/entry.ts";
import { ctxd, type Surroundings } from "./command-line.ts";
import { temporaryFolder } from "./database.ts";

/** A home folder in which every client has run, and functions to read and write their files. */
export function homeWithClients() {
  const home = temporaryFolder();
  const path = (id: string) => {
    const client = findClient(id);
    const { linux = "", macos = "" } = client?.file ?? {};
    return (process.platform === "darwin" ? macos : linux).replace("~", home);
  };
  for (const { id } of CLIENTS) mkdirSync(dirname(path(id)), { recursive: true });
  mkdirSync(join(home, ".claude"));
  return {
    home,
    path,
    put: (id: string, text: string, mode = 0o644) => writeFileSync(path(id), text, { mode }),
    get: (id: string) => readFileSync(path(id), "utf8"),
    entry: (id: string) => {
      const client = findClient(id);
      return client && existsSync(path(id))
        ? readEntry(client, readFileSync(path(id), "utf8"))
        : null;
    },
    run: (args: string[], surroundings: Surroundings = {}) =>
      ctxd(["connect", ...args], { ...surroundings, env: { HOME: home, ...surroundings.env } }),
  };
}
