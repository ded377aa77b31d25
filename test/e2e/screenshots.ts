import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { inSpace, wholeAccount } from "../../src/keys/reach.ts";
import { createPendingSignIns } from "../../src/sign-in/second-step/second-step.ts";
import { startOAuthServer } from "../oauth/support/oauth-server.ts";
import { createPerson } from "../oauth/support/person.ts";
import { type Look, openBrowser } from "../support/browser.ts";
import { sharedEmbedder } from "../support/embedder.ts";
import { join as joinSpace } from "../support/space-team.ts";
import { recordSamples, SAMPLES, saveSamples } from "./sample.ts";

/**
 * Takes pictures of every page: `bun run screenshots [--out FOLDER] [--only NAME]`. With `--readme` it takes the
 * pictures of the README instead.
 */

const { values } = parseArgs({
  options: {
    out: { type: "string" },
    only: { type: "string" },
    readme: { type: "boolean", default: false },
  },
  strict: true,
});
const README_FOLDER = join(import.meta.dir, "screenshots");
const folder = values.readme
  ? README_FOLDER
  : resolve(values.out ?? join(tmpdir(), "ctxd-screenshots"));
mkdirSync(folder, { recursive: true });

const LOOKS: Record<string, Look> = {
  light: {},
  dark: { dark: true },
  narrow: { narrow: true },
};
/** The pages shown in the README, as they look in a window. */
const OF_README: Record<string, string> = {
  search: "light",
  activity: "dark",
};

const embedder = sharedEmbedder();
const DAYS = SAMPLES[0]?.days ?? 0;
await using server = await startOAuthServer({ embedder, ...(values.readme && { port: 7733 }) });
const { id: accountId } = await server.accounts.add({ email: "sam@example.com", password: null });
// The newest sample is a day old.
server.clock.advance(Date.now() - DAYS * 86_400_000 - server.clock());
await saveSamples(
  (memory) => server.memories.saveAll(wholeAccount(accountId), [memory]),
  server.clock,
);
const { memories: known } = await server.memories.list(wholeAccount(accountId), {
  ...{ filter: {}, limit: 20 },
});
server.clock.advance(Date.now() - server.clock() - 30 * 86_400_000);
await recordSamples(server.activity, server.clock, {
  ...{ accountId, ids: known.map(({ id }) => id) },
});
const newest = await server.memories.list(wholeAccount(accountId), { filter: {}, limit: 1 });
await server.memories.search(wholeAccount(accountId), {
  ...{ query: "What must Sam not eat?", limit: 5, filter: {}, minScore: 0, mode: "hybrid" },
});
const in10Days = new Date(server.clock() + 10 * 86_400_000);
for (const [name, expiresAt] of [
  ["laptop", null] as const,
  ["billing scripts", in10Days] as const,
]) {
  await server.keys.create(accountId, { name, scopes: ["memories:read"], expiresAt });
}
const [key] = await server.keys.list(accountId);
const { secret: invitation } = await server.invitations.create("ada@example.com");
const kim = await server.accounts.add({ email: "kim@example.com", password: null });
const { client_id: clientId } = await server.register({ client_name: "Notes for phones" });

const session = await server.sessions.begin(accountId);
const person = createPerson(server.origin);
person.jar.set("ctxd-session", session);
const { code = null } = await server.consent(person, clientId);
await server.redeem(clientId, code);

const lee = await server.accounts.add({ email: "lee@example.com", password: null });
const space = await server.spaces.create(lee.id, "acme");
await server.spaces.change(lee.id, space.id, { projects: ["acme/web", "acme/api"] });
await joinSpace(server, space, { accountId: kim.id }, "write");
const toJoin = await server.spaceInvitations.create(lee.id, space.id, {
  email: null,
  role: "read",
});
const inSpaceOfLee = inSpace(wholeAccount(lee.id), space);
await server.memories.saveAll(inSpaceOfLee, [
  { content: "Deploys are on Tuesdays.", project: "acme/web" },
  { content: "The API answers in UTC.", project: "acme/api", tags: ["api"] },
]);
await server.memories.saveAll(wholeAccount(lee.id), [
  { content: "Review before merging.", project: "acme/web" },
]);
const ofLee = { session: await server.sessions.begin(lee.id) };
const ofKim = { session: await server.sessions.begin(kim.id), space: space.id };

const { passkeys, oneTimeCodes, recoveryCodes } = server.factors;
for (const name of ["Laptop", "Phone"]) {
  const publicKey = new Uint8Array();
  await passkeys.add(accountId, { id: name, name, publicKey, counter: 0, transports: [] });
}
await recoveryCodes.replace(accountId);
await oneTimeCodes.begin(accountId);
const pending = await createPendingSignIns(server).begin(accountId, null);
// A session without a fresh proof: only the clock of this server advances.
const oldSession = await server.sessions.begin(accountId);
server.db.sqlite.run("UPDATE sessions SET proved_at = 0 WHERE hash = ?", [
  server.sessions.idOf(oldSession),
]);

const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const { record } = server.securityLog;
for (const event of ["signed_in", "key_created", "memories_exported"] as const) {
  const subject = event === "key_created" ? "ctx_8dK2… laptop" : null;
  record(event, { accountId, via: "browser", address: "203.0.113.7", agent, subject });
}
for (let tries = 0; tries < 12; tries++) {
  record("sign_in_failed", { accountId: null, via: "browser", address: "198.51.100.9" });
}

/** All pages by name. */
const PAGES: Record<string, string> = {
  "sign-in": "/sign-in",
  "sign-in-passkey": "/sign-in/passkey",
  "sign-in-recovery": "/sign-in/recovery",
  "second-step": "/sign-in/second-step",
  proof: "/proof?next=/keys",
  "new-passkey": "/account/passkeys/new",
  "code-app": "/account/app",
  invitation: `/join/${invitation}`,
  welcome: "/welcome",
  "welcome-save": "/welcome/save",
  "welcome-ask": `/welcome/ask?${new URLSearchParams({ q: "what must Sam not eat", saved: newest.memories[0]?.id ?? "" })}`,
  overview: "/",
  memories: "/memories",
  search: "/memories?q=when+do+we+deploy",
  filters: "/memories?tags=billing&agent_id=codex",
  memory: `/memories/${newest.memories[0]?.id}`,
  "edit-memory": `/memories/${newest.memories[0]?.id}/edit`,
  "delete-memory": `/memories/${newest.memories[0]?.id}/delete`,
  activity: "/activity",
  map: "/map",
  projects: "/projects",
  project: "/projects/acme%2Fbilling",
  "new-memory": "/memories/new",
  import: "/memories/import",
  export: "/memories/export/offer",
  tidy: "/memories/tidy",
  forget: "/memories/forget",
  connect: "/connect",
  "connect-chatgpt": "/connect?to=chatgpt",
  "connect-cursor": "/connect?to=cursor",
  "connect-curl": "/connect?to=curl",
  keys: "/keys",
  "revoke-key": `/keys/${key?.id}/revoke`,
  agents: "/agents",
  account: "/account",
  "account-security": "/account/security",
  admin: "/admin",
  "admin-access": `/admin/accounts/${kim.id}`,
  backups: "/admin/backups",
  health: "/admin/health",
  "revoke-access": "/account/revoke",
  security: "/admin/security",
  "help-install": "/help/install",
  spaces: "/spaces",
  space: `/spaces/${space.id}`,
  "space-member": `/spaces/${space.id}/member?member=${kim.id}`,
  "space-delete": `/spaces/${space.id}/delete`,
  "space-memories": "/memories",
  "space-new-memory": "/memories/new",
  "space-move": `/projects/acme%2Fweb/into-space?space=${space.id}`,
  "space-project": "/projects/acme%2Fweb",
  "space-join": `/spaces/join/${toJoin.secret}`,
  "admin-spaces": "/admin/spaces",
  "admin-space": `/admin/spaces/${space.id}`,
  consent: server.authorizeUrl(clientId).slice(server.origin.length),
};

/** Cookies for pages that need another state than being signed in. */
const COOKIES: Record<string, Record<string, string>> = {
  "second-step": { pending },
  proof: { session: oldSession },
  spaces: ofLee,
  space: ofLee,
  "space-member": ofLee,
  "space-delete": ofLee,
  "space-memories": ofKim,
  "space-new-memory": ofKim,
  "space-move": ofLee,
  "space-project": ofLee,
};

const browser = await openBrowser();
for (const [look, options] of Object.entries(LOOKS)) {
  const page = await browser.open(options);
  if (values.readme) await page.setViewportSize({ width: 1120, height: 720 });
  for (const [name, path] of Object.entries(PAGES)) {
    if (values.only !== undefined && !name.startsWith(values.only)) continue;
    if (values.readme && OF_README[name] !== look) continue;
    await page.context().clearCookies();
    const cookies = name.startsWith("sign-in") ? {} : (COOKIES[name] ?? { session });
    for (const [kind, value] of Object.entries(cookies)) {
      const cookie = { name: `ctxd-${kind}`, value, url: server.origin };
      await page.context().addCookies([cookie]);
    }
    await page.goto(server.origin + path, { waitUntil: "networkidle" });
    await page.screenshot({
      path: join(folder, values.readme ? `${name}.png` : `${name}-${look}.png`),
      fullPage: !values.readme,
    });
  }
}
await browser.close();
await embedder.close();
console.log(folder);
// Chromium would go on.
process.exit();
