import { AppError, invalidField } from "../errors.ts";
import { problemOf, text } from "../text/input-kinds.ts";

/** What members may do in a space. An admin also invites, removes, renames and deletes. */
export const ROLES = ["read", "write", "admin"] as const;
export type Role = (typeof ROLES)[number];

/** A space, whose memories several people share, as one of its members sees it. */
export interface Space {
  /** The id of the account that has its memories. */
  readonly id: string;
  /** Not unique: others may have spaces of the same name. */
  readonly name: string;
  readonly role: Role;
  /** What members save for these projects belongs to the space. */
  readonly projects: readonly string[];
}

/** In place of a space's name: the person's own memories. */
export const PERSONAL = "personal";

const Name = text({ minLength: 1, maxLength: 64 }, { trimmed: true, noComma: true, visible: true });

/**
 * The stored form of a space's name.
 * @throws AppError `validation_failed` for one that is empty, too long or reserved
 */
export function parseSpaceName(typed: string): string {
  const name = typed.trim();
  const problem = problemOf(Name, name);
  if (problem !== null) throw invalidField("name", problem);
  if (name.toLowerCase() === PERSONAL || name.startsWith("acc_")) {
    throw invalidField("name", `must be neither ${PERSONAL} nor begin with acc_`);
  }
  return name;
}

const MAX_PROJECTS = 200;
const ProjectName = text({ minLength: 1, maxLength: 128 }, { visible: true });

/** Names of projects, each once. @throws AppError `validation_failed` */
export function parseProjects(names: readonly string[]): string[] {
  const distinct = [...new Set(names)];
  if (distinct.length > MAX_PROJECTS) {
    throw invalidField("projects", `must be at most ${MAX_PROJECTS}`);
  }
  const problem = distinct.map((name) => problemOf(ProjectName, name)).find(Boolean);
  if (problem) throw invalidField("projects", `has a name that ${problem}`);
  return distinct;
}

/** The address of a space's account: no person's address contains a space. */
export function spaceAddress(id: string): string {
  return `space ${id}`;
}

/** Spaces that an error message names. */
const MAX_NAMED = 20;

/**
 * A person's space by its name or id.
 * @throws AppError `not_found` for one of which the person is not a member, `conflict` if two have this name
 */
export function findSpace(spaces: readonly Space[], wanted: string): Space {
  const named = spaces.filter(({ id, name }) => id === wanted || name === wanted);
  const [space] = named;
  if (space === undefined) throw unknownSpace(spaces);
  if (named.length === 1) return space;
  const ids = named.map(({ id }) => id).join(" or ");
  throw new AppError("conflict", `You are in two spaces of this name: give an id, ${ids}.`);
}

/** The same error for a space that is not there and for one of others. @param own the person's spaces */
export function unknownSpace(own: readonly Space[] = []): AppError {
  const names = [...new Set(own.map(({ name }) => name))].slice(0, MAX_NAMED).join(", ");
  const yours = names === "" ? "" : ` Yours: ${names}.`;
  return new AppError("not_found", `You are not a member of a space with this name.${yours}`);
}
