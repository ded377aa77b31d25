import type { Command } from "commander";
import type { Config } from "../../../config/config.ts";
import { Project } from "../../../memories/model/memory.ts";
import { type Context, examples } from "../../context.ts";
import { nameParser } from "../../options.ts";
import { changeQuota, quotaOptions } from "../../quota.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { CommandError, confirm, isInteractive, print, say, usageError } from "../../terminal.ts";
import { countMembers, onSpace, requireSpace, spaceFacts } from "./find.ts";
import { defineLists } from "./lists.ts";
import { defineMembers } from "./members.ts";

/** Adds `ctxd space` and the commands below it, in the order of the help. */
export function define(program: Command, context: Context): void {
  const space = program
    .command("space")
    .summary(
      "manage the spaces, whose memories several people share: create, list, show, invite, role, remove, project, rename, quota, close, open, delete",
    )
    .description(
      "Manages the spaces. Several people share the memories of a space: its members. Whoever runs these commands administers the machine, and needs no role in a space.",
    )
    .addHelpText(
      "after",
      examples(
        "ctxd space create acme --user you@example.com",
        "ctxd space invite acme --email bob@example.com",
        "ctxd space project acme --add acme/web",
      ),
    );
  defineCreate(space, context);
  defineLists(space, context);
  defineMembers(space, context);
  defineChanges(space, context);
  defineEnds(space, context);
}

function defineCreate(space: Command, { configureExisting }: Context): void {
  space
    .command("create")
    .argument("<name>", "the new space's name")
    .summary("make a space")
    .description("Makes a space and prints its id.")
    .requiredOption("--user <email>", "the account of its first admin")
    .addHelpText("after", examples("ctxd space create acme --user you@example.com"))
    .action((name: string, { user }: { user: string }) =>
      createSpace(configureExisting(), name, user),
    );
}

/** Adds the commands that change what a space is called, what lives in it, and how much it may store. */
function defineChanges(space: Command, { configureExisting }: Context): void {
  const Projects = (name: string, before: readonly string[] = []) => [
    ...before,
    nameParser(Project)(name),
  ];
  onSpace(space, "project")
    .summary("show or choose the projects that live in a space")
    .description(
      "Shows the projects that live in a space, or changes them. What members save for such a project goes to the space. What was saved before stays where it is.",
    )
    .option("--add <project>", "a project that lives there from now on; may be repeated", Projects)
    .option("--remove <project>", "one that no longer does; may be repeated", Projects)
    .addHelpText("after", examples("ctxd space project acme --add acme/web --add acme/api"))
    .action((wanted: string, options: ProjectChange) =>
      changeProjects(configureExisting(), wanted, options),
    );
  onSpace(space, "rename")
    .argument("<name>", "its new name")
    .description("rename a space")
    .action((wanted: string, name: string) => rename(configureExisting(), wanted, name));
  quotaOptions(onSpace(space, "quota"))
    .summary("show or set how much a space may store")
    .description(
      "Shows how much a space may store, or sets it. A new limit applies to later writes; stored memories stay.",
    )
    .addHelpText("after", examples("ctxd space quota acme --memories 10000"))
    .action((wanted: string, change) =>
      withStores(configureExisting(), async (stores) => {
        const { id, name } = await requireSpace(stores, wanted);
        await changeQuota(stores, { id, name, facts: spaceFacts({ id, name }) }, change);
      }),
    );
}

/** Adds the commands that end a space, for a time or for good. */
function defineEnds(space: Command, { configureExisting }: Context): void {
  onSpace(space, "close")
    .summary("close a space until it is opened again")
    .description("Closes a space: nobody reads it or saves there. Its memories stay.")
    .action((wanted: string) => setClosed(configureExisting(), wanted, true));
  onSpace(space, "open")
    .description("open a closed space")
    .action((wanted: string) => setClosed(configureExisting(), wanted, false));
  onSpace(space, "delete")
    .summary("delete a space with its memories")
    .description("Deletes a space with all its memories, permanently.")
    .option("-y, --yes", "do not ask for confirmation")
    .action((wanted: string, options: { yes?: boolean }) =>
      deleteSpace(configureExisting(), wanted, options),
    );
}

async function createSpace(config: Config, typed: string, user: string): Promise<void> {
  await withStores(config, async ({ accounts, spaces, record }) => {
    const account = await requireAccount(accounts, user);
    const { id, name } = await spaces.create(account.id, typed);
    record("space_created", { ...spaceFacts({ id, name }), accountId: account.id });
    await print(id);
    say(`Made the space ${name}. ${account.email} is its admin.`);
  });
}

interface ProjectChange {
  add?: readonly string[];
  remove?: readonly string[];
}

async function changeProjects(
  config: Config,
  wanted: string,
  { add = [], remove = [] }: ProjectChange,
): Promise<void> {
  await withStores(config, async (stores) => {
    const space = await requireSpace(stores, wanted);
    const missing = remove.find((project) => !space.projects.includes(project));
    if (missing !== undefined) {
      throw new CommandError(`The project ${missing} does not live in the space ${space.name}.`);
    }
    const kept = space.projects.filter((project) => !remove.includes(project));
    let projects: readonly string[] = space.projects;
    if (add.length + remove.length > 0) {
      const change = { projects: [...kept, ...add] };
      projects = (await stores.spaces.change(null, space.id, change)).projects;
      stores.record("space_changed", spaceFacts(space));
    }
    const list = projects.length === 0 ? "No project lives" : `Projects that live`;
    const names = projects.length === 0 ? "" : `: ${projects.join(", ")}`;
    say(`${list} in the space ${space.name}${names}.`);
  });
}

async function rename(config: Config, wanted: string, typed: string): Promise<void> {
  await withStores(config, async (stores) => {
    const space = await requireSpace(stores, wanted);
    const { name } = await stores.spaces.change(null, space.id, { name: typed });
    stores.record("space_changed", spaceFacts({ ...space, name }));
    say(`The space ${space.name} is called ${name} now.`);
  });
}

async function setClosed(config: Config, wanted: string, isClosed: boolean): Promise<void> {
  await withStores(config, async (stores) => {
    const space = await requireSpace(stores, wanted);
    if ((space.disabledAt !== null) === isClosed) {
      return say(`The space ${space.name} is already ${isClosed ? "closed" : "open"}.`);
    }
    await stores.spaces.setDisabled(space.id, isClosed);
    stores.record("space_changed", spaceFacts(space));
    say(
      isClosed
        ? `Closed the space ${space.name}: nobody can use it until ctxd space open.`
        : `Opened the space ${space.name}.`,
    );
  });
}

async function deleteSpace(config: Config, wanted: string, options: { yes?: boolean }) {
  await withStores(config, async (stores) => {
    const space = await requireSpace(stores, wanted);
    if (!options.yes) {
      if (!isInteractive()) throw usageError("Without a terminal, deleting a space needs --yes.");
      const members = countMembers(space.members);
      say(`This deletes the space ${space.name} (${members}) and all its memories, permanently.`);
      if (!(await confirm(`Delete ${space.name}?`))) throw new CommandError("Nothing was deleted.");
    }
    await stores.spaces.remove(null, space.id);
    stores.record("space_deleted", spaceFacts(space));
    say(`Deleted the space ${space.name}.`);
  });
}
