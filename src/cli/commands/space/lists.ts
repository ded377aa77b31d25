import type { Command } from "commander";
import type { Config } from "../../../config/config.ts";
import type { Context } from "../../context.ts";
import { requireAccount, type Stores, withStores } from "../../stores.ts";
import { formatMoment, print, printable, printJson, printTable, say } from "../../terminal.ts";
import { type ListedSpace, onSpace, requireSpace } from "./find.ts";

/** Adds the commands that show spaces. */
export function defineLists(space: Command, { configureExisting }: Context): void {
  space
    .command("list")
    .description("list the spaces")
    .option("--user <email>", "only the spaces of this account")
    .option("--json", "as JSON")
    .action((options: ListOptions) => listSpaces(configureExisting(), options));
  onSpace(space, "show")
    .description("show a space with its members, projects and invitations")
    .option("--json", "as JSON")
    .action((wanted: string, options: { json?: boolean }) =>
      showSpace(configureExisting(), wanted, options),
    );
}

interface ListOptions {
  user?: string;
  json?: boolean;
}

async function listSpaces(config: Config, { user, json }: ListOptions): Promise<void> {
  const spaces = await withStores(config, async (stores) => {
    const all = await stores.spaces.list();
    return user === undefined ? all : await ofAccount(stores, all, user);
  });
  if (json) return await printJson(spaces.map(toJson));
  if (spaces.length === 0) {
    return say("No spaces yet: ctxd space create NAME --user EMAIL makes one.");
  }
  await printTable(
    ["ID", "NAME", "MEMBERS", "PROJECTS", "STATE"],
    spaces.map((space) => [
      space.id,
      space.name,
      String(space.members),
      space.projects.join(", ") || "-",
      describeState(space),
    ]),
  );
}

/** The spaces of which an account is a member. */
async function ofAccount(
  { accounts, spaces }: Pick<Stores, "accounts" | "spaces">,
  all: readonly ListedSpace[],
  user: string,
): Promise<ListedSpace[]> {
  const { id } = await requireAccount(accounts, user);
  const own: ListedSpace[] = [];
  // One query after the other: a database can't answer any number of them at once in time.
  for (const space of all) {
    const members = await spaces.members(space.id);
    if (members.some(({ accountId }) => accountId === id)) own.push(space);
  }
  return own;
}

async function showSpace(config: Config, wanted: string, options: { json?: boolean }) {
  const { space, members, invitations } = await withStores(config, async (stores) => {
    const space = await requireSpace(stores, wanted);
    const members = await stores.spaces.members(space.id);
    return { space, members, invitations: await stores.spaceInvitations.list(space.id) };
  });
  if (options.json) {
    return await printJson({
      ...toJson(space),
      members: members.map(({ accountId: id, email, role, joinedAt }) => {
        return { id, email, role, joined_at: joinedAt };
      }),
      invitations: invitations.map(({ id, email, role, expiresAt }) => {
        return { id, email, role, expires_at: expiresAt };
      }),
    });
  }
  const projects = space.projects.join(", ") || "-";
  await print(
    printable(
      `space     ${space.name} (${space.id}, ${describeState(space)})\nprojects  ${projects}\n`,
    ),
  );
  await printTable(
    ["MEMBER", "ROLE", "JOINED"],
    members.map(({ email, role, joinedAt }) => [email, role, formatMoment(joinedAt)]),
  );
  if (invitations.length === 0) return;
  await print("");
  await printTable(
    ["INVITATION", "FOR", "ROLE", "EXPIRES"],
    invitations.map(({ id, email, role, expiresAt }) => {
      return [id, email ?? "whoever has the link", role, formatMoment(expiresAt)];
    }),
  );
}

function describeState({ disabledAt }: ListedSpace): string {
  return disabledAt === null ? "open" : `closed ${formatMoment(disabledAt)}`;
}

function toJson({ id, name, projects, members, disabledAt }: ListedSpace) {
  return { id, name, projects, members, closed_at: disabledAt };
}
