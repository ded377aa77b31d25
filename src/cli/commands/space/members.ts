import { Argument, type Command, Option } from "commander";
import { ROLES, type Role } from "../../../accounts/space.ts";
import type { Config } from "../../../config/config.ts";
import { invitationLink } from "../../../spaces/route-parts.ts";
import { type Context, examples } from "../../context.ts";
import { requireAccount, withStores } from "../../stores.ts";
import { formatMoment, print, say } from "../../terminal.ts";
import { onSpace, requireSpace, spaceFacts } from "./find.ts";

/** Adds the commands that say who is in a space, and what they may do there. */
export function defineMembers(space: Command, { configureExisting }: Context): void {
  onSpace(space, "invite")
    .summary("invite somebody into a space")
    .description(
      "Makes an invitation into a space and prints its link, which is shown only once and valid for a week. With --email, only the account with this address can join.",
    )
    .option("--email <email>", "the only address that may join")
    .addOption(
      new Option("--role <role>", "what the new member may do").choices(ROLES).default("write"),
    )
    .addHelpText("after", examples("ctxd space invite acme --email bob@example.com --role read"))
    .action((wanted: string, options: { email?: string; role: Role }) =>
      invite(configureExisting(), wanted, options),
    );
  onSpace(space, "uninvite")
    .argument("<id>", "the invitation's id, as ctxd space show prints it")
    .description("revoke an invitation")
    .action((wanted: string, id: string) => uninvite(configureExisting(), wanted, id));
  onSpace(space, "role")
    .addArgument(new Argument("<role>", "what the member may do from now on").choices(ROLES))
    .description("give a member another role")
    .requiredOption("--user <email>", "the member's account")
    .action((wanted: string, role: Role, { user }: { user: string }) =>
      setRole(configureExisting(), wanted, role, user),
    );
  onSpace(space, "remove")
    .summary("remove a member from a space")
    .description(
      "Removes a member from a space. The member's next request is refused, and keys and apps that are bound to the space are revoked. What the member saved stays.",
    )
    .requiredOption("--user <email>", "the member's account")
    .action((wanted: string, { user }: { user: string }) =>
      removeMember(configureExisting(), wanted, user),
    );
}

async function invite(
  config: Config,
  wanted: string,
  { email = null, role }: { email?: string | null; role: Role },
): Promise<void> {
  await withStores(config, async (stores) => {
    const space = await requireSpace(stores, wanted);
    const made = await stores.spaceInvitations.create(null, space.id, { email, role });
    stores.record("space_invited", spaceFacts(space));
    await print(invitationLink(config.publicUrl, made.secret));
    const { email: only, expiresAt, id } = made.invitation;
    const who = only === null ? "Whoever has the link" : `Only ${only}`;
    say(
      `${who} can join the space ${space.name} with the role ${role}, until ${formatMoment(expiresAt)}. The link is shown only this once; ctxd space uninvite revokes it (${id}).`,
    );
  });
}

async function uninvite(config: Config, wanted: string, id: string): Promise<void> {
  await withStores(config, async (stores) => {
    const space = await requireSpace(stores, wanted);
    await stores.spaceInvitations.revoke(null, space.id, id);
    stores.record("space_uninvited", spaceFacts(space));
    say(`Revoked the invitation ${id} into the space ${space.name}.`);
  });
}

async function setRole(config: Config, wanted: string, role: Role, user: string): Promise<void> {
  await withStores(config, async (stores) => {
    const space = await requireSpace(stores, wanted);
    const account = await requireAccount(stores.accounts, user);
    await stores.spaces.setRole(null, space.id, account.id, role);
    stores.record("space_role_changed", { ...spaceFacts(space), accountId: account.id });
    say(`${account.email} has the role ${role} in the space ${space.name}.`);
  });
}

async function removeMember(config: Config, wanted: string, user: string): Promise<void> {
  await withStores(config, async (stores) => {
    const space = await requireSpace(stores, wanted);
    const account = await requireAccount(stores.accounts, user);
    await stores.spaces.removeMember(null, space.id, account.id);
    stores.record("space_left", { ...spaceFacts(space), accountId: account.id });
    say(`Removed ${account.email} from the space ${space.name}.`);
  });
}
