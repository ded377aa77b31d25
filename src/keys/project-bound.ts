import type { ErrorDetail } from "../errors.ts";
import { problemOf, text } from "../input-kinds.ts";
import type { Bound } from "./reach.ts";

/** The columns of a table that has what a key or a grant is bound to. */
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

const NAME = text({ minLength: 1, maxLength: 128 });

/** What is wrong with the project of a new key or grant. */
export function boundProblem(bound: Bound | null): ErrorDetail | null {
  if (bound === null) return null;
  const path = "/project";
  const problem = problemOf(NAME, bound.project);
  if (problem !== null) return { path, message: `A project's name ${problem}.` };
  // They would reach the terminal of whoever lists the keys.
  const isPlain = !/[\p{Cc}\u2028\u2029]/u.test(bound.project);
  return isPlain ? null : { path, message: "A project's name has no control characters." };
}

/** A bound for people: `atlas`, `atlas only`. */
export function describeBound(bound: Bound | null): string {
  if (bound === null) return "-";
  return bound.only ? `${bound.project} only` : bound.project;
}

/**
 * How what decides about access is kept where it is bound to a project. Beside this version, an earlier
 * one may use the same database: it would not know of the project, and does not find this.
 */
export function inBoundForm(kept: string): string {
  return `project ${kept}`;
}
