import type { Space } from "../accounts/space.ts";
import { AppError, type ErrorDetail } from "../errors.ts";
import { problemOf, text } from "../text/input-kinds.ts";
import { allows, FULL_ACCESS, type Scope } from "./scopes.ts";

/** A project that a key, an app or an agent is bound to. */
export interface Bound {
  readonly project: string;
  /** Whether the memories without a project are excluded too. */
  readonly only: boolean;
}

/** Who sent a request, as the server knows it. */
export interface Credential {
  /** The name of the key or app, or a person's e-mail address. */
  readonly by: string;
  /** The id of the key, of the grant, or of a person's account. */
  readonly id: string;
}

/** The memories that a caller may read and write: those of an account, or of one project in it. */
export interface Reach {
  readonly accountId: string;
  /** Null if the whole account is reached. */
  readonly bound: Bound | null;
  /** What the caller may do; by default everything. */
  readonly scopes?: readonly Scope[];
  /** How the caller was authenticated. */
  readonly via?: "key" | "token" | "session" | "local";
  /** The caller; by default the account's own person. */
  readonly credential?: Credential;
  /** The name that the calling agent gives itself; null if unknown. */
  readonly agentId?: string | null;
  /** Aborted when the client has gone, if its request is given up then. */
  readonly signal?: AbortSignal;
  /** The space that the account is; null for the person's own account, if it was chosen instead of a space. */
  readonly space?: Space | null;
  /** The account of the person who reaches a space. */
  readonly personId?: string;
  /** The person's spaces, which are searched too. */
  readonly spaces?: readonly Space[];
}

/** All memories of an account. */
export function wholeAccount(accountId: string): Reach {
  return { accountId, bound: null };
}

/** The memories of a space, as a person who is its member reaches them. */
export function inSpace<Caller extends Reach>(caller: Caller, space: Space): Caller {
  const { scopes = FULL_ACCESS } = caller;
  return {
    ...caller,
    accountId: space.id,
    personId: personOf(caller),
    space,
    spaces: [],
    scopes: space.role === "read" ? scopes.filter((scope) => scope === "memories:read") : scopes,
  };
}

/** The account of the person who sent a request. */
export function personOf({ personId, accountId }: Reach): string {
  return personId ?? accountId;
}

/** Whether a caller may do what needs a scope. */
export function hasScope({ scopes = FULL_ACCESS }: Reach, needed: Scope): boolean {
  return allows(scopes, needed);
}

/** @throws AppError `forbidden` for a caller without the scope */
export function requireScope(reach: Reach, needed: Scope): void {
  if (hasScope(reach, needed)) return;
  if (reach.space?.role === "read" && needed !== "memories:read") {
    throw new AppError(
      "forbidden",
      "You may read the memories of this space, and not change them.",
    );
  }
  // The holder of a token can ask for more scopes; a key can't change.
  throw reach.via === "token"
    ? new AppError("forbidden", `This token lacks the scope ${needed}.`, {
        challenge: "insufficient_scope",
      })
    : new AppError("forbidden", `This key lacks the scope ${needed}.`);
}

/** The columns for the project that a key or a grant is bound to. */
export interface BoundColumns {
  readonly project: string | null;
  readonly projectOnly: boolean;
}

export function toBound({ project, projectOnly }: BoundColumns): Bound | null {
  return project === null ? null : { project, only: projectOnly };
}

export function toBoundColumns(bound: Bound | null): BoundColumns {
  return { project: bound?.project ?? null, projectOnly: bound?.only ?? false };
}

const NAME = text({ minLength: 1, maxLength: 128 }, { visible: true });

/** The problem with the project of a new key or grant; null without one. */
export function boundProblem(bound: Bound | null): ErrorDetail | null {
  if (bound === null) return null;
  const path = "/project";
  const problem = problemOf(NAME, bound.project);
  return problem === null ? null : { path, message: `A project's name ${problem}.` };
}

/** Describes a bound to people: `atlas`, `atlas only`. */
export function describeBound(bound: Bound | null): string {
  if (bound === null) return "-";
  return bound.only ? `${bound.project} only` : bound.project;
}

/**
 * The stored form of a value that decides about access, for what is bound to a project or a space. A server of an
 * earlier version may use the same database. It does not know about them, and does not find this form.
 */
export function inBoundForm(
  value: string,
  { bound, spaceId }: { bound: Bound | null; spaceId: string | null },
): string {
  if (spaceId !== null) return `space ${value}`;
  return bound === null ? value : `project ${value}`;
}

/** All forms of such a value. */
export function boundForms(value: string): string[] {
  return [value, `project ${value}`, `space ${value}`];
}
