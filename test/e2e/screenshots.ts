import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { type Look, openBrowser } from "../support/browser.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { saveSamples } from "./sample.ts";

/** Pictures of every page, to be looked at: `bun run screenshots [--out FOLDER] [--only NAME]`. */

const { values } = parseArgs({
  options: { out: { type: "string" }, only: { type: "string" } },
  strict: true,
});
const folder = resolve(values.out ?? join(tmpdir(), "ctxd-screenshots"));
mkdirSync(folder, { recursive: true });

const LOOKS: Record<string, Look> = {
  light: {},
  dark: { dark: true },
  narrow: { narrow: true },
};

const embedder = sharedEmbedder();
await using server = await startOAuthServer({ embedder });
const { id: accountId } = await server.accounts.add({ email: "sam@example.com", password: null });
await saveSamples((memory) => server.memories.create(accountId, [memory]), server.clock);
const newest = await server.memories.list(accountId, { filter: {}, limit: 1 });
for (const name of ["laptop", "billing scripts"]) {
  server.keys.create(accountId, { name, scopes: ["memories:read"], expiresAt: null });
}
const { client_id: clientId } = await server.register({ client_name: "Notes for phones" });

/** Every page by its name. */
const PAGES: Record<string, string> = {
  "sign-in": "/sign-in",
  overview: "/",
  memories: "/memories",
  search: "/memories?q=when+do+we+deploy",
  filters: "/memories?tags=billing&agent_id=codex",
  memory: `/memories/${newest.memories[0]?.id}`,
  "delete-memory": `/memories/${newest.memories[0]?.id}/delete`,
  "new-memory": "/memories/new",
  import: "/memories/import",
  connect: "/connect",
  "connect-chatgpt": "/connect?to=chatgpt",
  "connect-cursor": "/connect?to=cursor",
  "connect-curl": "/connect?to=curl",
  keys: "/keys",
  apps: "/apps",
  account: "/account",
  admin: "/admin",
  consent: server.authorizeUrl(clientId).slice(server.origin.length),
};

const browser = await openBrowser();
const session = server.sessions.begin(accountId);
for (const [look, options] of Object.entries(LOOKS)) {
  const page = await browser.open(options);
  for (const [name, path] of Object.entries(PAGES)) {
    if (values.only !== undefined && !name.startsWith(values.only)) continue;
    const isSignedIn = name !== "sign-in";
    await page.context().clearCookies();
    if (isSignedIn) {
      const cookie = { name: "ctxd-session", value: session, url: server.origin };
      await page.context().addCookies([cookie]);
    }
    await page.goto(server.origin + path, { waitUntil: "networkidle" });
    await page.screenshot({ path: join(folder, `${name}-${look}.png`), fullPage: true });
  }
}
await browser.close();
await embedder.close();
console.log(folder);
