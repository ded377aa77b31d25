import type { Command } from "commander";
import type { Config } from "../../config/config.ts";
import { describeBound, toBound } from "../../keys/reach.ts";
import { describeScopes } from "../../keys/scopes.ts";
import { type Grant, grantFacts } from "../../oauth/grants.ts";
import type { Context } from "../context.ts";
import { requireAccount, withStores } from "../stores.ts";
import { CommandError, formatMoment, printJson, printTable, say } from "../terminal.ts";
import { namesOfSpaces, spaceColumn } from "./space/find.ts";

export function define(program: Command, { configureExisting }: Context): void {
  const grant = program
    .command("grant")
    .summary("manage the grants of apps that sign in: list, revoke")
    .description(
      "Manages grants: the access that users have given to apps by signing in, without an API key.",
    );
  grant
    .command("list")
    .description("list the grants, including those revoked in the last 30 days")
    .option("--user <email>", "only the grants of this account")
    .option("--json", "as JSON")
    .action((options: { user?: string; json?: boolean }) =>
      listGrants(configureExisting(), options),
    );
  grant
    .command("revoke")
    .argument("<id>", "the grant's id, as ctxd grant list shows it")
    .summary("revoke a grant")
    .description("Revokes a grant permanently. The app's next request is refused.")
    .option("--json", "print the grant as JSON")
    .action((id: string, options: { json?: boolean }) =>
      revokeGrant(configureExisting(), id, options),
    );
}

async function listGrants(config: Config, options: { user?: string; json?: boolean }) {
  const { user } = options;
  const { grants, emails, names } = await withStores(config, async (stores) => ({
    grants:
      user === undefined
        ? await stores.grants.listOfAllAccounts()
        : await stores.grants.list((await requireAccount(stores.accounts, user)).id),
    emails: new Map((await stores.accounts.list()).map(({ id, email }) => [id, email])),
    names: await namesOfSpaces(stores),
  }));
  if (options.json) {
    const entries = grants.map((grant) => ({
      user: emails.get(grant.accountId),
      ...toJson(grant, names),
    }));
    return await printJson(entries);
  }
  if (grants.length === 0) {
    return say("No grants yet: an app asks for one when it connects to this server.");
  }
  const space = spaceColumn(grants, names);
  await printTable(
    [
      "ID",
      "APP",
      "ANSWERED AT",
      "USER",
      "SCOPE",
      "PROJECT",
      ...space.heading,
      "LAST USED",
      "STATE",
    ],
    grants.map((grant) => [
      grant.id,
      grant.clientName,
      grant.redirectHost,
      emails.get(grant.accountId) ?? "-",
      describeScopes(grant.scopes),
      describeBound(toBound(grant)),
      ...space.cellOf(grant),
      formatMoment(grant.lastUsedAt),
      describeState(grant),
    ]),
  );
}

async function revokeGrant(config: Config, id: string, options: { json?: boolean }): Promise<void> {
  await withStores(config, async (stores) => {
    const { grants, record } = stores;
    const known = (await grants.listOfAllAccounts()).find((grant) => grant.id === id);
    if (!known) throw new CommandError("No grant has this id: ctxd grant list shows all.");
    const revoked = await grants.revokeOfAnyAccount(id);
    if (!known.revokedAt) record("app_revoked", grantFacts(revoked));
    if (options.json) return await printJson(toJson(revoked, await namesOfSpaces(stores)));
    if (known.revokedAt) return say(`${id} (${known.clientName}) is revoked already.`);
    say(`Revoked ${id} (${known.clientName}).`);
  });
}

function describeState({ revokedAt, pausedAt, expiresAt }: Grant): string {
  if (revokedAt) return `revoked ${formatMoment(revokedAt)}`;
  if (pausedAt) return `paused ${formatMoment(pausedAt)}`;
  return `expires ${formatMoment(expiresAt)}`;
}

function toJson(grant: Grant, spaces: ReadonlyMap<string, string>) {
  return {
    id: grant.id,
    account_id: grant.accountId,
    client_id: grant.clientId,
    client_name: grant.clientName,
    redirect_host: grant.redirectHost,
    scopes: grant.scopes,
    project: grant.project,
    project_only: grant.projectOnly,
    space: spaces.get(grant.spaceId ?? "") ?? null,
    space_id: grant.spaceId,
    created_at: grant.createdAt,
    last_used_at: grant.lastUsedAt,
    expires_at: grant.expiresAt,
    revoked_at: grant.revokedAt,
    paused_at: grant.pausedAt,
  };
}
