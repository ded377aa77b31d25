import type { Command } from "commander";
import type { Account } from "../../../accounts/account.ts";
import { findSpace, type Space } from "../../../accounts/space.ts";
import type { Stores } from "../../stores.ts";
import { CommandError } from "../../terminal.ts";

/** A space as who administers the machine sees it. */
export type ListedSpace = Awaited<ReturnType<Stores["spaces"]["list"]>>[number];

/** Adds a command that takes a space. */
export function onSpace(space: Command, name: string): Command {
  return space.command(name).argument("<space>", "the space's name, or its id");
}

/** Finds a space among all by its name or id. @throws CommandError for an unknown or a doubtful one */
export async function requireSpace(
  { spaces }: Pick<Stores, "spaces">,
  wanted: string,
): Promise<ListedSpace> {
  const named = (await spaces.list()).filter(({ id, name }) => id === wanted || name === wanted);
  const [space] = named;
  if (!space) throw new CommandError("No space has this name or id: ctxd space list shows all.");
  if (named.length === 1) return space;
  const ids = named.map(({ id, members }) => `${id} (${countMembers(members)})`).join(", ");
  throw new CommandError(`${named.length} spaces have this name: give the id of one, ${ids}.`);
}

/** Finds an open space of an account by its name or id. @throws CommandError, and AppError if two have this name */
export async function requireSpaceOf(
  { spaces }: Pick<Stores, "spaces">,
  { id: accountId, email }: Account,
  wanted: string,
): Promise<Space> {
  const own = (await spaces.admit(accountId))?.spaces ?? [];
  if (own.some(({ id, name }) => id === wanted || name === wanted)) return findSpace(own, wanted);
  throw new CommandError(
    `${email} is a member of no open space with this name or id: ctxd space list --user ${email} shows all.`,
  );
}

/** The names of all spaces by their ids. */
export async function namesOfSpaces({ spaces }: Pick<Stores, "spaces">) {
  return new Map((await spaces.list()).map(({ id, name }) => [id, name]));
}

/** A column for the space that a key or an app is bound to, if one is bound to any: its heading, and its cells. */
export function spaceColumn(
  bound: readonly { readonly spaceId: string | null }[],
  names: ReadonlyMap<string, string>,
): { heading: string[]; cellOf: (row: { readonly spaceId: string | null }) => string[] } {
  if (bound.every(({ spaceId }) => spaceId === null)) return { heading: [], cellOf: () => [] };
  return { heading: ["SPACE"], cellOf: ({ spaceId }) => [names.get(spaceId ?? "") ?? "-"] };
}

export function countMembers(count: number): string {
  return count === 1 ? "1 member" : `${count} members`;
}

/** The facts of an event about a space, which no account has caused. */
export function spaceFacts({ id, name }: Pick<ListedSpace, "id" | "name">) {
  return { accountId: null, subjectId: id, subject: name };
}
